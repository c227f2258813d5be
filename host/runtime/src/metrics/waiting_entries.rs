//! Counts the audit entries that calls wait for.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of audit entries that are not written yet and that a call waits for.
#[derive(Debug, Default)]
pub(crate) struct WaitingEntries(AtomicU64);

/// Counts one entry until it is dropped.
struct WaitingEntry<'a>(&'a AtomicU64);

impl WaitingEntries {
    /// Waits for an entry, which counts meanwhile.
    pub(crate) async fn until<T>(&self, written: impl Future<Output = T>) -> T {
        self.0.fetch_add(1, Ordering::Relaxed);
        let _waiting = WaitingEntry(&self.0);
        written.await
    }

    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for WaitingEntry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
