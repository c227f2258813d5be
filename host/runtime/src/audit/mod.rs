//! The record: an append-only file of JSON lines, each chained to the one before by a keyed MAC.
//!
//! Who changes, drops, reorders or appends a line without the key is found out; who cuts off the end is found out by
//! the head, which is written after every line. Several processes may append: each takes a lock, and believes the head
//! rather than its memory.

mod chain;
mod checkpoint;
mod error;
mod head;
mod line;
mod lines;
mod log;
mod queue;
mod recover;
mod settle;
mod verify;
mod write;

pub(crate) use checkpoint::LedgerMark;
pub use error::AuditError;
pub use line::{Entry, Kind};
pub use log::AuditLog;
pub(crate) use settle::{Announced, Ending, LogScan};
pub use verify::{Fault, Verified};
pub(crate) use write::WrittenEntry;
