//! Approvals: how they are given, what they are bound to, which of several answers counts, and what survives when a
//! process dies. P01 to P12, P22 to P25, P27, P29, P31 to P33.

#![allow(clippy::disallowed_methods, reason = "tests damage the files that a host has to distrust")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "approvals/desk.rs"]
pub(crate) mod desk;

#[path = "approvals/people.rs"]
pub(crate) mod people;

#[path = "approvals/child.rs"]
pub(crate) mod child;

#[path = "approvals/binding.rs"]
mod binding;

#[path = "approvals/patterns.rs"]
mod patterns;

#[path = "approvals/mutations.rs"]
mod mutations;

#[path = "approvals/remembering.rs"]
mod remembering;

#[path = "approvals/fatigue.rs"]
mod fatigue;

#[path = "approvals/channels.rs"]
mod channels;

#[path = "approvals/again.rs"]
mod again;

#[path = "approvals/pending.rs"]
mod pending;

#[path = "approvals/middle.rs"]
mod middle;

#[path = "approvals/repetition.rs"]
mod repetition;

#[path = "approvals/attenuation.rs"]
mod attenuation;

#[path = "approvals/crash.rs"]
mod crash;

#[path = "approvals/thousand.rs"]
mod thousand;

#[path = "approvals/together.rs"]
mod together;

#[path = "approvals/edited.rs"]
mod edited;

#[path = "approvals/unanswerable.rs"]
mod unanswerable;

#[path = "approvals/unavailable.rs"]
mod unavailable;

#[path = "approvals/agreement.rs"]
mod agreement;

#[path = "approvals/rollback.rs"]
mod rollback;

#[path = "approvals/bench.rs"]
mod bench;

#[path = "approvals/previews.rs"]
mod previews;

#[path = "approvals/reviewing.rs"]
mod reviewing;

#[path = "approvals/panicking.rs"]
mod panicking;

#[path = "approvals/explaining.rs"]
mod explaining;
