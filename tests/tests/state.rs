//! State that a guest keeps, and information that it gets without a handle: stores, settings, messages, clocks,
//! randomness.
//!
//! The attacker is the guest `state`, which performs the steps that a test gives it.

#![allow(clippy::disallowed_methods, reason = "tests look at and change what a host keeps")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "state/desk.rs"]
pub(crate) mod desk;

#[path = "state/isolation.rs"]
mod isolation;

#[path = "state/lasting.rs"]
mod lasting;

#[path = "state/migrated.rs"]
mod migrated;

#[path = "state/processes.rs"]
mod processes;

#[path = "state/quotas.rs"]
mod quotas;

#[path = "state/paging.rs"]
mod paging;

#[path = "state/refusals.rs"]
mod refusals;

#[path = "state/settings.rs"]
mod settings;

#[path = "state/messages.rs"]
mod messages;

#[path = "state/clocks.rs"]
mod clocks;

#[path = "state/randomness.rs"]
mod randomness;
