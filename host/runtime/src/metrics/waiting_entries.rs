//! Counts the audit entries that calls wait for.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of audit entries that are not written yet and that a call waits for.
#[derive(Debug, Default)]
pub(crate) struct WaitingEntries(AtomicU64);

/// Counts one entry until it is dropped.
struct WaitingEntry<'a>(&'a AtomicU64);

impl WaitingEntries {
    /// Waits for an entry, which counts meanwhile. One that is written already does not count.
    pub(crate) async fn until<T>(&self, written: impl Future<Output = T>) -> T {
        let (mut written, mut waiting) = (pin!(written), None);
        let ended = poll_fn(|context| {
            let polled = written.as_mut().poll(context);
            if polled.is_pending() {
                waiting.get_or_insert_with(|| WaitingEntry::begin(&self.0));
            }
            polled
        });
        ended.await
    }

    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl<'a> WaitingEntry<'a> {
    fn begin(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for WaitingEntry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn an_entry_counts_while_a_call_waits_for_it() {
        let entries = WaitingEntries::default();
        assert_eq!(entries.until(async { 7 }).await, 7);
        let (written, waits) = oneshot::channel::<()>();
        let waiting = async { entries.until(waits).await };
        let meanwhile = async {
            tokio::task::yield_now().await;
            assert_eq!(entries.count(), 1);
            drop(written);
        };
        let _ = tokio::join!(waiting, meanwhile);
        assert_eq!(entries.count(), 0);
    }
}
