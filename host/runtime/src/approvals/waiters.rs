//! Counts the calls of this process that wait for each approval request.

use portcullis_policy::recovery::RecoverMutex;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// The number of calls of this process that wait for each approval request, by its id.
#[derive(Default)]
pub(super) struct Waiters(Mutex<HashMap<String, usize>>);

impl Waiters {
    /// Returns how many calls wait for a request.
    pub(super) fn count(&self, id: &str) -> usize {
        self.lock().get(id).copied().unwrap_or(0)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock_recovered()
    }
}
