//! The channel that answers approval requests.

use crate::approver::Approver;
use portcullis_policy::Unattended;
use std::sync::Arc;

/// The channel that answers approval requests.
#[derive(Clone)]
pub(crate) enum ApproverChannel {
    /// This approver, and answers through the ledger.
    Approver(Arc<dyn Approver>),
    /// Only answers through the ledger. The call waits for them.
    Elsewhere,
    /// No one while the call waits.
    NoApprover(Unattended),
}

impl std::fmt::Debug for ApproverChannel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Approver(_) => "Approver",
            Self::Elsewhere => "Elsewhere",
            Self::NoApprover(_) => "NoApprover",
        })
    }
}
