//! Counts the look-ups of compiled code.

use std::sync::atomic::{AtomicU64, Ordering};

/// The look-ups of compiled code in the cache on the disk. Code that is mapped already is not looked up again.
#[derive(Debug, Default)]
pub(crate) struct CodeCacheCounters {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl CodeCacheCounters {
    /// Counts code that was found and can be used.
    pub(crate) fn hit(&self) {
        // The counters order no other memory access, so `Relaxed` is enough.
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts code that was not found, or cannot be used.
    pub(crate) fn miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the hits and the misses.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }
}
