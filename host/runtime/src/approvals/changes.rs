//! Notices changes of the ledger, for pages and terminals that show approval requests as they arrive.

use super::error::ApprovalError;
use super::shared::Approvals;
use std::time::Duration;
use tokio::time::sleep;

/// How often the ledger is polled for changes of other processes. A poll takes microseconds, and a request is on an
/// approver's screen within a fifth of a second.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Waits for changes of the ledger, whichever process makes them.
pub struct ApprovalChanges {
    approvals: Approvals,
    seen: Option<i64>,
}

impl Approvals {
    /// Starts to watch the ledger. The first [`ApprovalChanges::changed`] returns at once.
    pub fn changes(&self) -> ApprovalChanges {
        ApprovalChanges { approvals: self.clone(), seen: None }
    }
}

impl ApprovalChanges {
    /// Waits until the ledger has changed. Several changes can count as one, and a change may be about something that
    /// this handle may not see.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub async fn changed(&mut self) -> Result<(), ApprovalError> {
        loop {
            let version = self.approvals.shared.ledger.version()?;
            // `None` if another thread uses the ledger. The next poll sees what that thread did.
            if version.is_some() && version != self.seen {
                self.seen = version;
                return Ok(());
            }
            sleep(LOOK_INTERVAL).await;
        }
    }
}

impl std::fmt::Debug for ApprovalChanges {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ApprovalChanges").field("seen", &self.seen).finish_non_exhaustive()
    }
}
