//! Counts the calls that are under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of calls that are under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallsUnderWay(Arc<AtomicUsize>);

/// A call that has begun. It counts as under way until this is dropped.
#[must_use = "the call counts only as long as this is held"]
pub(crate) struct CallUnderWay(Arc<AtomicUsize>);

impl CallsUnderWay {
    /// Counts one more call.
    pub(crate) fn begin(&self) -> CallUnderWay {
        self.0.fetch_add(1, Ordering::AcqRel);
        CallUnderWay(Arc::clone(&self.0))
    }

    /// Returns how many calls have begun and have not ended.
    pub(crate) fn count(&self) -> usize {
        // This pairs with the decrements: a caller that reads zero sees everything that the ended calls did.
        self.0.load(Ordering::Acquire)
    }
}

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
