//! Tools that a plugin hides or narrows for some callers: what the plugin learns, how its answer is used wherever tools
//! are offered, that a call checks it again, and that a faulty answer offers nothing.

#![allow(clippy::disallowed_methods, reason = "tests write policies and read what the kernel counts")]
#![allow(clippy::print_stdout, reason = "a measurement is read by a person")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "prepared/desk.rs"]
mod desk;

#[path = "prepared/hidden.rs"]
mod hidden;

#[path = "prepared/narrowed.rs"]
mod narrowed;

#[path = "prepared/hostile.rs"]
mod hostile;

#[path = "prepared/surfaces.rs"]
mod surfaces;
