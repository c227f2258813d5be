//! Limits the number of subscribers to changes of the tool list.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum subscribers of one server. Each costs a task, and clients that never disconnect must not exhaust the host.
const SUBSCRIBERS_MAX: usize = 1024;

/// The subscribers of a server.
pub(crate) struct Subscribers {
    places: Arc<Semaphore>,
}

impl Default for Subscribers {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(SUBSCRIBERS_MAX)) }
    }
}

impl Subscribers {
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
}
