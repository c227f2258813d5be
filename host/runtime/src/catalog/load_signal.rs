//! The signal that background loads have changed.

use tokio::sync::Notify;

/// A signal to the tasks that wait for background loads. Each task has its own condition, so all of them are woken.
#[derive(Default)]
pub(super) struct LoadSignal(Notify);

impl LoadSignal {
    /// Wakes all waiters, so that each looks whether it still has to wait.
    pub(super) fn notify(&self) {
        // `notify_one` would wake the first waiter only, which may have nothing to do.
        self.0.notify_waiters();
    }

    /// Waits until a condition of the loads is met.
    pub(super) async fn until(&self, is_met: impl Fn() -> bool) {
        loop {
            // Created before the check: `notify_waiters` reaches a future that exists, even if it was not polled yet.
            let notified = self.0.notified();
            if is_met() {
                return;
            }
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;
    use tokio::time::timeout;

    /// A time after which a waiter was not woken.
    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn every_waiter_is_woken() {
        let (signal, ended) = (LoadSignal::default(), AtomicBool::new(false));
        let has_ended = || ended.load(Ordering::SeqCst);
        let ends = async {
            ended.store(true, Ordering::SeqCst);
            signal.notify();
        };
        let waiting = async { tokio::join!(signal.until(has_ended), signal.until(has_ended), ends) };
        assert!(timeout(PATIENCE, waiting).await.is_ok(), "a waiter was not woken");
    }

    #[tokio::test]
    async fn a_change_during_the_check_is_not_missed() {
        let (signal, ended) = (LoadSignal::default(), AtomicBool::new(false));
        let ends_after_the_look = || {
            let has_ended = ended.swap(true, Ordering::SeqCst);
            signal.notify();
            has_ended
        };
        assert!(timeout(PATIENCE, signal.until(ends_after_the_look)).await.is_ok(), "the change was missed");
    }
}
