//! The approvals and requests that the host revoked because the ledger was rolled back.

use std::fmt;

/// What was revoked in a ledger that was rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RolledBack {
    /// The generation of the ledger.
    pub found: u64,
    /// The generation that the audit log expects. Zero if the log is newer than the ledger.
    pub expected: u64,
    /// Number of revoked remembered approvals.
    pub approvals: usize,
    /// Number of withdrawn approval requests.
    pub requests: usize,
    /// Number of files that are no longer trusted.
    pub trusted: usize,
}

impl fmt::Display for RolledBack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, expected, approvals, requests, trusted } = self;
        match expected {
            0 => write!(formatter, "the audit log does not know the ledger (generation {found})")?,
            _ => write!(
                formatter,
                "the ledger was replaced by an older copy or removed (generation {found}; the audit log knows \
                 generation {expected})"
            )?,
        }
        write!(
            formatter,
            ": nothing in it counts any more. Revoked: {approvals} remembered approvals; withdrawn: {requests} approval \
             requests; forgotten: {trusted} trusted files"
        )
    }
}
