//! The current access rules of a server. They can be replaced while it runs, when the operator's files change.

use super::options::Access;
use std::sync::Arc;
use tokio::sync::watch;

/// The access of a running server. Clones share it. Each request is checked against the access at that moment.
#[derive(Clone, Debug)]
pub(crate) struct LiveAccess(watch::Sender<Arc<Access>>);

impl LiveAccess {
    pub(crate) fn new(access: Access) -> Self {
        Self(watch::Sender::new(Arc::new(access)))
    }

    /// Returns the current access.
    pub(crate) fn now(&self) -> Arc<Access> {
        Arc::clone(&self.0.borrow())
    }

    /// Replaces the access for later requests, and ends the streams of tokens that are no longer valid.
    pub(crate) fn replace(&self, mut access: Access) {
        // Under the lock of the channel, so that of two replacements the second takes over from the first.
        self.0.send_modify(|current| {
            access.take_over(current);
            *current = Arc::new(access);
        });
    }
}
