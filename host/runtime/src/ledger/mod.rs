//! The ledger: data that survives the process and is shared by all processes of a state directory. It has the approval
//! requests, remembered approvals, trusted policies, stores of plugins, and the index of kept outputs.
//!
//! It is one SQLite file next to the audit log. The audit log has the history and is never changed. The ledger has the
//! current state. Rows that give a right have a seal with the host's key, so that no other program can add an approval.
//! This module must not know what a call is or who answers.

mod answers;
mod database;
mod error;
mod generation;
mod outbox;
mod output;
mod owner;
mod questions;
#[cfg(test)]
mod races;
mod schema;
mod seal;
mod status;
mod store;
mod trusted;

pub(crate) use answers::{AnswerHold, AnswerRow};
pub(crate) use database::{CallLedger, Durable, LedgerChange, blocking, drop_blocking, milliseconds, now};
pub use error::LedgerError;
pub(crate) use generation::{FIRST_GENERATION, Forgotten, LedgerPeek};
pub(crate) use output::{FinishedOutput, OutputOrigin, OutputRoom, OutputRow};
pub(crate) use owner::Owner;
pub(crate) use questions::{Conflict, OpenCount, QuestionRow, QuestionSubject};
pub use status::Status;
pub(crate) use status::StatusStep;
pub(crate) use store::{FoundValue, Page, Sharing, StoreName, StoreQuota, Unstored, root_of_principal};
