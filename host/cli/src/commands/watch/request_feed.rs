//! The open requests, read again when the ledger changes. The screen is drawn elsewhere.

use portcullis::Approvals;
use portcullis::approvals::{ApprovalChanges, ApprovalError, Listing};
use std::future::pending;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How often the requests are read without a change of the ledger. The end of a process that waits for an answer, and a
/// request that expires, change nothing there.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Pause after the ledger could not be read.
const FAULT_PAUSE: Duration = Duration::from_secs(1);

/// The listings of a ledger, as it changes. Dropping it ends the task that reads them.
pub(super) struct RequestFeed {
    listings: mpsc::Receiver<Result<Listing, ApprovalError>>,
    _reading: JoinSet<()>,
}

/// Where requests come from.
trait RequestSource: Send {
    fn changed(&mut self) -> impl Future<Output = Result<(), ApprovalError>> + Send;
    fn list(&mut self) -> impl Future<Output = Result<Listing, ApprovalError>> + Send;
}

/// The ledger of a state directory.
struct LedgerSource {
    approvals: Approvals,
    changes: ApprovalChanges,
}

impl RequestFeed {
    /// Begins to read. The first listing comes at once.
    pub(super) fn start(approvals: &Approvals) -> Self {
        // With room for one, a reader that is busy gets few listings, and the last one is current.
        let (sender, listings) = mpsc::channel(1);
        let mut reading = JoinSet::new();
        reading.spawn(follow(LedgerSource { approvals: approvals.clone(), changes: approvals.changes() }, sender));
        Self { listings, _reading: reading }
    }

    /// Waits for the next listing, or for an error that a later listing may resolve.
    pub(super) async fn next(&mut self) -> Result<Listing, ApprovalError> {
        match self.listings.recv().await {
            Some(listing) => listing,
            None => pending().await,
        }
    }
}

impl RequestSource for LedgerSource {
    async fn changed(&mut self) -> Result<(), ApprovalError> {
        self.changes.changed().await
    }

    async fn list(&mut self) -> Result<Listing, ApprovalError> {
        self.approvals.list().await
    }
}

/// Sends a listing after each change, and one after each interval without a change, until no one receives them.
async fn follow(mut source: impl RequestSource, sender: mpsc::Sender<Result<Listing, ApprovalError>>) {
    loop {
        // `changed` returns at once as long as the ledger cannot be read.
        let is_readable = !matches!(timeout(SWEEP_INTERVAL, source.changed()).await, Ok(Err(_)));
        let listing = source.list().await;
        let is_fault = !is_readable || listing.is_err();
        if sender.send(listing).await.is_err() {
            return;
        }
        if is_fault {
            sleep(FAULT_PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A ledger that cannot be read.
    struct Unreadable(Arc<AtomicUsize>);

    impl RequestSource for Unreadable {
        async fn changed(&mut self) -> Result<(), ApprovalError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Err(ApprovalError::Unknown)
        }

        async fn list(&mut self) -> Result<Listing, ApprovalError> {
            Err(ApprovalError::Unknown)
        }
    }

    #[tokio::test]
    async fn a_ledger_that_cannot_be_read_is_not_polled_without_a_pause() {
        let looks = Arc::new(AtomicUsize::new(0));
        let (sender, mut listings) = mpsc::channel(1);
        let reading = tokio::spawn(follow(Unreadable(Arc::clone(&looks)), sender));
        let drain = async { while listings.recv().await.is_some() {} };
        let _ = timeout(FAULT_PAUSE / 4, drain).await;
        reading.abort();
        assert_eq!(looks.load(Ordering::SeqCst), 1);
    }
}
