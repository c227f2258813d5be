//! Hostile guests, one per limit and per attack. A guest of `guests/` without a test here does not compile.

#![allow(clippy::disallowed_methods, reason = "tests make the files that a host has to withstand")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "hostile/time.rs"]
mod time;
