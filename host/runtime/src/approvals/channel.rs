//! Who is asked.

use crate::approver::Approver;
use portcullis_policy::Unattended;
use std::sync::Arc;

/// Who is asked.
#[derive(Clone)]
pub(crate) enum Channel {
    /// This one, and whoever answers through the ledger.
    Approver(Arc<dyn Approver>),
    /// Only whoever answers through the ledger; the call waits.
    Elsewhere,
    /// Nobody while the call waits.
    Nobody(Unattended),
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Approver(_) => "Approver",
            Self::Elsewhere => "Elsewhere",
            Self::Nobody(_) => "Nobody",
        })
    }
}
