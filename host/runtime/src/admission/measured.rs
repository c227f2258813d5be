//! Measures waits. A wait that does not happen costs nothing.

use std::future::poll_fn;
use std::pin::pin;
use std::time::{Duration, Instant};

/// When a wait began, and how long it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitTime {
    pub(crate) began: Instant,
    pub(crate) took: Duration,
}

/// How long a call waited for its admission. A wait is `None` if it did not happen.
#[derive(Debug, Default)]
pub(crate) struct AdmissionWaits {
    /// For its turn in its batch.
    pub(crate) turn: Option<WaitTime>,
    /// For the order of its session.
    pub(crate) order: Option<WaitTime>,
    /// For a run slot.
    pub(crate) slot: Option<WaitTime>,
}

/// Completes a future, and returns how long it waited. Reads no clock if it is ready at once, which is usual.
pub(crate) async fn measured<T>(future: impl Future<Output = T>) -> (T, Option<WaitTime>) {
    let (mut future, mut began) = (pin!(future), None);
    let output = poll_fn(|context| {
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            began.get_or_insert_with(Instant::now);
        }
        polled
    });
    let output = output.await;
    (output, began.map(|began| WaitTime { began, took: began.elapsed() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_future_that_waits_has_a_time() {
        let (value, wait) = measured(async { 7 }).await;
        assert!(value == 7 && wait.is_none());
        let ((), wait) = measured(tokio::task::yield_now()).await;
        assert!(wait.is_some());
    }
}
