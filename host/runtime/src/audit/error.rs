//! Why the record cannot be used.

use std::io;

/// Why the record cannot be written or read. A call that cannot be recorded is not made.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The system says no.
    #[error("the record cannot be used: {0}")]
    Io(#[from] io::Error),
    /// The head is not one this host wrote.
    #[error(
        "the record's head (audit.head) is damaged or was written under another key: look with `portcullis audit \
         verify`, then move audit.jsonl and audit.head aside to begin a new record. Remembered approvals do not \
         count with a new record"
    )]
    Head,
    /// The record is shorter than its head says.
    #[error(
        "the record was cut: it has {found} bytes where its head says {expected}; look with `portcullis audit verify`, \
         then move audit.jsonl and audit.head aside to begin a new record"
    )]
    Cut {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// The file was removed under the host.
    #[error("the record's file was removed while the host had it open: start the host again")]
    Gone,
    /// What was to be written has no form.
    #[error("the record cannot be written: {0}")]
    Form(#[from] serde_json::Error),
    /// Too many entries wait for the file.
    #[error("too many entries wait for audit.jsonl: another process holds its lock, or the disk is too slow")]
    Busy,
}
