//! The ledger: what has to survive the process and be the same for every process of a state directory. Questions that
//! wait for a person, answers that hold on, the files a person trusts, the stores of plugins, and which
//! outputs are kept.
//!
//! It is one SQLite file beside the record. The record says what happened and is never changed; the ledger says how
//! things stand. Rows that give a right carry a seal under the host's key, so that a row nobody answered is no answer.
//! It must not know what a call is or who is asked.

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

pub(crate) use answers::{AnswerRow, Held};
pub(crate) use database::{Change, Durable, Ledger, blocking, drop_blocking, milliseconds, now};
pub use error::LedgerError;
pub(crate) use generation::{FIRST_GENERATION, Forgotten, LedgerPeek};
pub(crate) use output::{FinishedOutput, OutputOrigin, OutputRoom, OutputRow};
pub(crate) use owner::Owner;
pub(crate) use questions::{Conflict, OpenCount, QuestionRow, Subject};
pub use status::Status;
pub(crate) use status::Step;
pub(crate) use store::{Found, Page, Quota, Sharing, StoreName, Unstored, root_of_principal};
