//! The error for an approval that cannot be given, revoked or spent.

use crate::audit::AuditError;
use crate::ledger::{LedgerError, Status};

/// The error for an approval that cannot be given, revoked or spent. In every case, the call does not run.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// No request or approval has this id, or this handle may not see it.
    #[error("no approval request and no approval has this id: run `portcullis approvals list` to see the ids")]
    Unknown,
    /// It was already answered, or has ended.
    #[error("it is already {0}")]
    Settled(Status),
    /// It has expired.
    #[error("it has expired: make the call again")]
    Expired,
    /// The call that made the request has ended, so an answer has no effect.
    #[error("the call that made this request has ended: make the call again")]
    Gone,
    /// The call that would run now is not the approved one.
    #[error("the call is no longer the one that was requested: {0}; make the call again")]
    Changed(String),
    /// The process that made the request still waits, and runs the call itself.
    #[error("the process that made this request still waits, and runs the call itself")]
    WaitedFor,
    /// The answer covers a pattern that the request does not offer.
    #[error("the request offers no such pattern: run `portcullis approvals show` to list its patterns")]
    NotOffered,
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The change has taken effect, but its audit entry could not be written yet.
    #[error(
        "it has taken effect, but its entry in the audit log could not be written; the entry follows as soon as the \
         log can be written again"
    )]
    Unrecorded(#[source] AuditError),
}
