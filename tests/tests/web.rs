//! The shipped plugin `web` in a real host, against real servers on the loopback address: pages of every kind,
//! redirects, limits, hostile pages, and approval requests.

#![allow(clippy::disallowed_methods, reason = "tests read the pages that they serve")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "web/lab.rs"]
mod lab;

#[path = "web/kinds.rs"]
mod kinds;

#[path = "web/pages.rs"]
mod pages;

#[path = "web/redirects.rs"]
mod redirects;

#[path = "web/limits.rs"]
mod limits;

#[path = "web/hostile.rs"]
mod hostile;

#[path = "web/asking.rs"]
mod asking;

#[path = "web/remembering.rs"]
mod remembering;
