//! The requests of a client that are not answered yet.

use rmcp::model::RequestId;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Requests that may run at one time: more than any client makes, and each costs a task.
const REQUESTS_MAX: usize = 4096;

/// The ids of requests in flight. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashSet<RequestId>>>);

/// Why a request is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotLetIn {
    /// There are too many.
    Full,
    /// One of this id runs already.
    Twice,
}

impl InFlight {
    /// Takes a request in.
    pub(super) fn begin(&self, id: &RequestId) -> Result<(), NotLetIn> {
        let mut ids = self.ids();
        if ids.len() >= REQUESTS_MAX {
            return Err(NotLetIn::Full);
        }
        if ids.insert(id.clone()) { Ok(()) } else { Err(NotLetIn::Twice) }
    }

    /// Forgets a request, because its answer is ready or none follows.
    pub(super) fn end(&self, id: &RequestId) {
        self.ids().remove(id);
    }

    /// Returns whether every request was answered.
    pub(super) fn is_empty(&self) -> bool {
        self.ids().is_empty()
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
