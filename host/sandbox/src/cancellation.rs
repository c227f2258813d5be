//! A caller's word that an answer is no longer wanted. Cheap to clone; once given it stays given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Asks a running call to end. The guest sees it at once through `is-cancelled`; a guest that goes on is stopped
/// after a grace period.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    cancelled: AtomicBool,
    changed: Notify,
}

impl Cancellation {
    /// A cancellation that nobody has given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels. Doing it twice is doing it once.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        self.0.changed.notify_waiters();
    }

    /// Whether it was given.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Waits until it is given.
    pub async fn cancelled(&self) {
        loop {
            // The waiter is registered before the flag is read, so that no cancel falls between the two.
            let changed = self.0.changed.notified();
            if self.is_cancelled() {
                return;
            }
            changed.await;
        }
    }
}
