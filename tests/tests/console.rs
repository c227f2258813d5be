//! The console, as a browser or an attacker sees it: guards, cookies, forms, answers bound to what was shown, and
//! hostile texts. `clients/console.rs` drives the same pages in a real browser.

#![allow(clippy::disallowed_methods, reason = "tests connect and lay out files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "console/desk.rs"]
mod desk;

#[path = "console/guards.rs"]
mod guards;

#[path = "console/bounds.rs"]
mod bounds;

#[path = "console/answers.rs"]
mod answers;

#[path = "console/hostile.rs"]
mod hostile;

#[path = "console/looking.rs"]
mod looking;

#[path = "console/pausing.rs"]
mod pausing;

#[path = "console/program.rs"]
mod program;

#[path = "console/served.rs"]
mod served;
