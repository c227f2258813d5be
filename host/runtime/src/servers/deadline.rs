//! The deadline of a call of a server's tool, which stands still while a person is asked.

use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::watch;

/// The deadline of a call.
pub(super) struct CallDeadline {
    state: Mutex<DeadlineState>,
    /// Changes with each pause and its end.
    changed: watch::Sender<()>,
}

struct DeadlineState {
    at: Instant,
    /// The number of pauses under way, and when the first of them began.
    pauses: usize,
    since: Option<Instant>,
}

/// A pause. The deadline goes on when it is dropped.
pub(super) struct DeadlinePause(Arc<CallDeadline>);

impl CallDeadline {
    pub(super) fn new(at: Instant) -> Arc<Self> {
        let state = DeadlineState { at, pauses: 0, since: None };
        Arc::new(Self { state: Mutex::new(state), changed: watch::Sender::new(()) })
    }

    /// Stops the clock until the result is dropped.
    pub(super) fn pause(self: &Arc<Self>) -> DeadlinePause {
        let mut state = self.state.lock_recovered();
        state.pauses += 1;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        self.changed.send_replace(());
        DeadlinePause(Arc::clone(self))
    }

    /// Waits until the time is over.
    pub(super) async fn passed(&self) {
        // Subscribed before the state is read, so that no pause in between is missed.
        let mut changed = self.changed.subscribe();
        loop {
            let at = {
                let state = self.state.lock_recovered();
                state.since.is_none().then_some(state.at)
            };
            let over = async {
                match at {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = over => return,
                // The sender is in `self`, so it outlives this future.
                _ = changed.changed() => {}
            }
        }
    }
}

impl Drop for DeadlinePause {
    fn drop(&mut self) {
        let mut state = self.0.state.lock_recovered();
        state.pauses -= 1;
        if state.pauses == 0
            && let Some(since) = state.since.take()
        {
            state.at += since.elapsed();
        }
        drop(state);
        self.0.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn a_deadline_stands_still_during_a_pause() {
        let deadline = CallDeadline::new(Instant::now() + Duration::from_millis(20));
        let (first, second) = (deadline.pause(), deadline.pause());
        drop(first);
        let passed = tokio::time::timeout(Duration::from_millis(100), deadline.passed()).await;
        assert!(passed.is_err(), "it is paused");
        drop(second);
        deadline.passed().await;
    }
}
