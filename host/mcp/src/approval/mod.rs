//! Calls and their approval requests: who answers a request, and how a client without elicitation gets its result.
//!
//! Every approval request and every answer goes through the host's ledger, where the first answer counts. This module
//! only decides how the client of a call is asked, if its answers count at all. It must not know what an answer
//! permits. [`session`] is the table of these decisions, [`drive`] runs it, and every other file does one thing for it.

mod announce;
mod answer;
mod ask_by;
mod attended;
mod called;
mod client;
mod drive;
mod elicit;
mod form;
mod hold;
mod lifetime;
mod rounds;
mod running;
mod session;
pub(crate) mod shared;
mod shelf;
mod spoken;
mod stage;
pub(crate) mod waiting;

pub(crate) use answer::{give, read};
pub(crate) use attended::call;
pub(crate) use called::Called;
pub(crate) use client::ClientAbilities;
pub(crate) use form::{form, waits_elsewhere};
pub(crate) use lifetime::lifetime;
pub(crate) use running::RunningCall;
pub(crate) use session::{LOST, SessionEffect, SessionEvent};
pub(crate) use shared::unavailable;
pub(crate) use shelf::TimedShelf;
pub(crate) use stage::{CallPhase, CallStage};
