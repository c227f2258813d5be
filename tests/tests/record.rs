//! The audit log and the cache: what is written about every call, what happens when the files are changed, and when the
//! log cannot be written. P26 to P28, S42, S43 and S45.

#![allow(clippy::disallowed_methods, reason = "tests damage the files that a host has to distrust")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "record/desk.rs"]
mod desk;

#[path = "record/calls.rs"]
mod calls;

#[path = "record/differences.rs"]
mod differences;

#[path = "record/order.rs"]
mod order;

#[path = "record/chain.rs"]
mod chain;

#[path = "record/head.rs"]
mod head;

#[path = "record/crash.rs"]
mod crash;

#[path = "record/together.rs"]
mod together;

#[path = "record/held.rs"]
mod held;

#[path = "record/unavailable.rs"]
mod unavailable;

#[path = "record/cache.rs"]
mod cache;

#[path = "record/examined.rs"]
mod examined;

#[path = "record/mapped.rs"]
mod mapped;

#[path = "record/index.rs"]
mod index;

#[path = "record/refusals.rs"]
mod refusals;

#[path = "record/room.rs"]
mod room;
