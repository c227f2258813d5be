//! Who may call, as it is now: the operator's files may change while the server runs.

use super::options::Access;
use std::sync::Arc;
use tokio::sync::watch;

/// The access of a running server. Clones share it; each request is held to what it is at that moment.
#[derive(Clone, Debug)]
pub(crate) struct LiveAccess(watch::Sender<Arc<Access>>);

impl LiveAccess {
    pub(crate) fn new(access: Access) -> Self {
        Self(watch::Sender::new(Arc::new(access)))
    }

    /// Returns the access for a request that comes now.
    pub(crate) fn now(&self) -> Arc<Access> {
        Arc::clone(&self.0.borrow())
    }

    /// Holds every later request to another access, and ends the streams of tokens that it does not have.
    pub(crate) fn replace(&self, mut access: Access) {
        self.0.send_modify(|current| {
            access.take_over(current);
            *current = Arc::new(access);
        });
    }
}
