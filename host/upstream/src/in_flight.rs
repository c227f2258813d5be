//! A call that a server is working on, as the connection sees it.

use crate::progress::ServerProgress;
use crate::requests::ServerRequests;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Maximum requests of the server during one call. A tool that asks its user two or three questions is usual.
pub(crate) const REQUESTS_PER_CALL_MAX: usize = 32;

/// A call that a server is working on. It travels with the request, so that the connection can route to it.
#[derive(Clone)]
pub(crate) struct CallInFlight(Arc<CallState>);

struct CallState {
    /// Replies to what the server asks during the call.
    replier: Option<Arc<dyn ServerRequests>>,
    /// The newest report. Earlier ones are dropped, so a flood takes no memory.
    progress: watch::Sender<Option<ServerProgress>>,
    requests: AtomicUsize,
    flooded: CancellationToken,
}

impl fmt::Debug for CallInFlight {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallInFlight").finish_non_exhaustive()
    }
}

impl CallInFlight {
    pub(crate) fn new(replier: Option<Arc<dyn ServerRequests>>) -> Self {
        Self(Arc::new(CallState {
            replier,
            progress: watch::Sender::new(None),
            requests: AtomicUsize::new(0),
            flooded: CancellationToken::new(),
        }))
    }

    /// Returns what replies to the requests of the server during the call.
    pub(crate) fn replier(&self) -> Option<&Arc<dyn ServerRequests>> {
        self.0.replier.as_ref()
    }

    /// Reports progress to the caller.
    pub(crate) fn report(&self, progress: ServerProgress) {
        self.0.progress.send_replace(Some(progress));
    }

    /// Returns the reports. A slow reader only sees the newest.
    pub(crate) fn progress(&self) -> watch::Receiver<Option<ServerProgress>> {
        self.0.progress.subscribe()
    }

    /// Counts a request of the server. Returns whether it is within the limit; otherwise the call ends.
    pub(crate) fn count_request(&self) -> bool {
        let is_within = self.0.requests.fetch_add(1, Ordering::Relaxed) < REQUESTS_PER_CALL_MAX;
        if !is_within {
            self.0.flooded.cancel();
        }
        is_within
    }

    /// Waits until the server has made too many requests.
    pub(crate) async fn flooded(&self) {
        self.0.flooded.cancelled().await;
    }
}
