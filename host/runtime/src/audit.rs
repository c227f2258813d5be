//! The audit log: an append-only file of JSON lines. Each line is chained to the one before by a keyed MAC.
//!
//! The chain reveals every line that was changed, dropped, moved or appended without the key. The head, which is
//! written after the lines, reveals a missing end. Several processes may append. Each takes a lock, and trusts the head
//! instead of its memory.

#[doc(inline)]
pub use portcullis_ledger::audit::{AnchorFault, AuditError, AuditLog, Entry, Fault, Kind, LogPlace, Verified};
pub(crate) use portcullis_ledger::audit::{
    Announced, AuditWriter, DeadCallEnding, LedgerMark, LogScan, PreparedEntry, WrittenEntry, kind_of,
};
#[doc(inline)]
pub use portcullis_ledger::ledger::{AnchoredChain, AnchorsDamage, AuditAnchor, ChainHead};
