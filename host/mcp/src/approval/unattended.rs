//! Approval requests that no client may answer.

use crate::server::Server;
use portcullis::Answer;
use portcullis::policy::Unattended;

/// Returns whether the policy denies an approval request that no client may answer.
pub(super) fn denies_unattended(server: &Server) -> bool {
    match server.inner().host.policy().approvals().unattended {
        Unattended::Deny => true,
        Unattended::Pending => false,
    }
}

/// Returns the answer to an unattended approval request.
pub(super) fn unattended() -> Answer {
    Answer::No { note: Some("no approver is connected".to_owned()) }
}
