//! The requests of a client that have not been answered yet.

use portcullis::policy::recovery::RecoverMutex;
use rmcp::model::RequestId;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};

/// Maximum requests in flight: more than any client makes. Each costs a task.
pub(super) const REQUESTS_MAX: usize = 4096;

/// The ids of requests in flight. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashSet<RequestId>>>);

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotLetIn {
    /// Too many requests are in flight.
    Full,
    /// A request with the same id is in flight.
    Twice,
}

impl InFlight {
    /// Registers a request.
    pub(super) fn begin(&self, id: &RequestId) -> Result<(), NotLetIn> {
        let mut ids = self.ids();
        if ids.len() >= REQUESTS_MAX {
            return Err(NotLetIn::Full);
        }
        if ids.insert(id.clone()) { Ok(()) } else { Err(NotLetIn::Twice) }
    }

    /// Removes a request, because its response is ready or it gets none.
    pub(super) fn end(&self, id: &RequestId) {
        self.ids().remove(id);
    }

    /// Returns whether every request was answered.
    pub(super) fn is_empty(&self) -> bool {
        self.ids().is_empty()
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock_recovered()
    }
}
