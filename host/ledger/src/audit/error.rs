//! The error for an audit log that cannot be written or read.

use super::anchor_fault::AnchorFault;
use std::io;

/// The error for an audit log that cannot be written or read. A call that cannot be recorded is not made.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The system reports an error.
    #[error("the audit log cannot be used")]
    Io(#[from] io::Error),
    /// This host did not write the head as it is now.
    #[error(
        "the audit log's head (audit.head) is damaged or was written with another key: run `portcullis audit verify`, \
         then move audit.jsonl and audit.head away to start a new log. Remembered approvals are not valid with a new \
         log"
    )]
    Head,
    /// The audit log is shorter than its head says.
    #[error(
        "the end of the audit log is missing: it has {found} bytes instead of {expected}; run `portcullis audit \
         verify`, then move audit.jsonl and audit.head away to start a new log"
    )]
    Cut {
        /// The actual length, in bytes.
        found: u64,
        /// The length in the head, in bytes.
        expected: u64,
    },
    /// The audit log is not what this host anchored in the shared ledger.
    #[error(
        "the audit log is not the one that this host anchored in the shared ledger: {0}. If the state directory was \
         restored from a backup or copied from another host, give this host a new state directory, and keep the old \
         one to see what is missing: `portcullis audit verify --all OLD`"
    )]
    Anchored(AnchorFault),
    /// The file was removed while the host had it open.
    #[error("the audit log was removed while the host had it open: restart the host")]
    Gone,
    /// Another host has the log open, and the file by which the two would take turns was removed.
    #[error(
        "audit.lock was removed while another host had the audit log open: stop the hosts of this state directory, and \
         start them again"
    )]
    LockGone,
    /// The entry cannot be serialized.
    #[error("the audit entry cannot be written")]
    Form(#[from] serde_json::Error),
    /// Too many entries wait for the file.
    #[error("too many entries wait for audit.jsonl: another process holds its lock, or the disk is too slow")]
    Busy,
}
