//! Calls as embedders see them: the events of a running call, what hooks can do to it, and how concurrent calls share a
//! host.

#![allow(clippy::disallowed_methods, reason = "a hook of the tests takes the record away under the host")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "calls/desk.rs"]
pub(crate) mod desk;

#[path = "calls/events.rs"]
mod events;

#[path = "calls/hooks.rs"]
mod hooks;

#[path = "calls/batch.rs"]
mod batch;

#[path = "calls/session_order.rs"]
mod session_order;

#[path = "calls/fairness.rs"]
mod fairness;

#[path = "calls/instructions.rs"]
mod instructions;
