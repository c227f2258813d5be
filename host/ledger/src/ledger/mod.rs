//! The ledger: data that survives the process and is shared by all processes of a state directory. It has the approval
//! requests, remembered approvals, trusted policies, stores of plugins, and the index of kept outputs.
//!
//! It is one SQLite file next to the audit log, or a PostgreSQL database that many hosts share. The audit log has the
//! history and is never changed. The ledger has the current state. Rows that give a right have a seal with the host's
//! key, so that no other program can add an approval.
//! This module must not know what a call is or who answers.

mod anchors;
mod answers;
mod backend;
mod blocking;
mod database;
mod error;
mod generation;
mod live_hosts;
mod outbox;
mod output;
mod output_part;
mod owner;
mod questions;
#[cfg(test)]
mod races;
mod seal;
mod shared_calls;
mod shared_rates;
mod shared_sessions;
mod status;
mod store;
mod trusted;

pub use anchors::{ANCHORS_KEPT_MAX, AnchoredChain, AnchorsDamage, AuditAnchor, ChainHead, anchors_damage};
pub use answers::{AnswerHold, AnswerRow};
pub use backend::{DatabaseError, Durable};
pub use blocking::{blocking, drop_blocking, dropped_blocking};
pub use database::{CallLedger, Committed, LedgerChange, LedgerUsers, milliseconds};
pub use error::{LedgerError, form_error, is_busy, is_disk_full, is_unreachable};
pub use generation::{FIRST_GENERATION, Forgotten, LedgerPeek};
pub use live_hosts::PoliciesInForce;
pub use outbox::OutboxRow;
pub use output::{OutputOrigin, OutputRoom, OutputRow};
pub use owner::Owner;
pub use questions::{Conflict, OpenCount, QuestionRow, QuestionSubject};
pub use shared_calls::{SharedCallKind, SharedCallNews, SharedCallPhase, SharedCallRoom, SharedCallRow};
pub use shared_rates::{RateUse, RatesUsed};
pub use shared_sessions::{
    NewRelay, RelayKind, RelayRow, RelayedRows, SessionAdded, SessionQuota, SessionReport, SessionRow,
};
pub use status::Status;
pub use status::StatusStep;
pub use store::{FoundValue, Page, Sharing, StoreName, StoreQuota, Unstored, root_of_principal};
