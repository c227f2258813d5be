//! Tools in each model provider's format, and back: what an export loses, and how responses become calls and replies
//! become results.

#![allow(clippy::disallowed_methods, reason = "tests keep their snapshots in files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "providers/answers.rs"]
mod answers;

#[path = "providers/hydrate.rs"]
mod hydrate;

#[path = "providers/export.rs"]
mod export;

#[path = "providers/results.rs"]
mod results;

#[path = "providers/property.rs"]
mod property;
