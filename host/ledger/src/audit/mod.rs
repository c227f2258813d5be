//! The audit log: an append-only file of JSON lines. Each line is chained to the one before by a keyed MAC.
//!
//! The chain reveals every line that was changed, dropped, moved or appended without the key. The head, which is
//! written after the lines, reveals a missing end. Several processes may append. Each takes a lock, and trusts the head
//! instead of its memory.

mod anchor_fault;
mod anchored;
mod chain;
mod checkpoint;
mod error;
mod extent;
mod head;
mod line;
mod lines;
mod log;
mod new_entries;
mod queue;
mod recover;
mod settle;
mod sole;
mod verify;
mod write;

pub use anchor_fault::AnchorFault;
pub use checkpoint::LedgerMark;
pub use error::AuditError;
pub use line::{Entry, Kind, kind_of};
pub use log::{AuditLog, AuditWriter, LedgerLookup};
pub use new_entries::PreparedEntry;
pub use settle::{Announced, DeadCallEnding, LogScan, SettledScan};
pub use verify::{Fault, LogPlace, Verified};
pub use write::WrittenEntry;
