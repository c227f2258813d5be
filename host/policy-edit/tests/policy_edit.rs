//! The edits through the public API: what they write, what they refuse, and properties that hold for every policy.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod desk;
mod grants;
mod masks;
mod pauses;
mod properties;
mod rules;
mod servers;
