//! Tools that a plugin generates: what the generator gets, how its result is used, and what happens when the
//! result changes.

#![allow(clippy::disallowed_methods, reason = "tests change the files that tools are generated from")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "dynamic/desk.rs"]
mod desk;

#[path = "dynamic/generated.rs"]
mod generated;

#[path = "dynamic/hostile.rs"]
mod hostile;

#[path = "dynamic/pinned.rs"]
mod pinned;

#[path = "dynamic/command.rs"]
mod command;
