//! Why an approval has no effect.

use crate::audit::AuditError;
use crate::ledger::{LedgerError, Status};

/// Why an approval cannot be given, taken back or spent. Whatever it is, the call does not run.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// There is none of this id, or none that the asker may know of.
    #[error("there is no question and no answer with this id: `portcullis approvals list` shows them")]
    Unknown,
    /// It was answered before, or has ended.
    #[error("it is {0} already")]
    Settled(Status),
    /// Its time is over.
    #[error("it has expired: make the call again")]
    Expired,
    /// The call that asked it has gone, so that no answer helps.
    #[error("the call that asked has gone: make it again")]
    Gone,
    /// What was approved is not what would run now.
    #[error("it is no longer the call that was asked about: {0}; make the call again")]
    Changed(String),
    /// The process that asked still waits: the call goes on there.
    #[error("the process that asked still waits for it")]
    WaitedFor,
    /// The answer covers something that was not offered.
    #[error("the question offers no such pattern: `portcullis approvals show` lists those it offers")]
    NotOffered,
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The record.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// It has taken effect, and its entry in the audit log could not be written yet.
    #[error(
        "it has taken effect, but the audit log could not be written: {0}; the entry follows as soon as the log can be \
         written again"
    )]
    Unrecorded(AuditError),
}
