//! The rate limits of the policy: too many calls are refused, also those of sub-agents, tools and
//! batches.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "rates/counting.rs"]
mod counting;

#[path = "rates/concurrent.rs"]
mod concurrent;

#[path = "rates/inner.rs"]
mod inner;

#[path = "rates/reloading.rs"]
mod reloading;
