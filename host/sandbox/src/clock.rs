//! How long a run may go on: one moment, checked by the epoch while the guest computes and by a timer while it waits.

use crate::Cancellation;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::sleep_until;

/// How long a cancelled guest may go on to tidy up. Long enough to answer, short enough not to be noticed.
const CANCEL_GRACE: Duration = Duration::from_millis(200);

/// Why the clock stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Expired {
    #[error("the time limit was reached")]
    Time,
    #[error("the call was cancelled")]
    Cancelled,
}

/// The end of one run. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The moment of the time limit, and of the end of the grace period once the call is cancelled.
    ends: Mutex<Ends>,
    moved: Notify,
    cancellation: Cancellation,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    limit: Instant,
    grace: Option<Instant>,
}

impl Clock {
    pub(crate) fn start(limit: Duration, cancellation: Cancellation) -> Self {
        let ends = Ends { limit: Instant::now() + limit, grace: None };
        Self(Arc::new(Inner { ends: Mutex::new(ends), moved: Notify::new(), cancellation }))
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.cancellation.is_cancelled()
    }

    /// Whether the run is over, asked at every tick of the epoch.
    pub(crate) fn check(&self) -> Result<(), Expired> {
        let now = Instant::now();
        let mut ends = self.ends();
        let cancellation = &self.0.cancellation;
        let over = |grace: &mut Option<Instant>| now >= *grace.get_or_insert(now + CANCEL_GRACE);
        if cancellation.is_at_once() || cancellation.is_cancelled() && over(&mut ends.grace) {
            return Err(Expired::Cancelled);
        }
        if now >= ends.limit { Err(Expired::Time) } else { Ok(()) }
    }

    /// Waits until the run is over.
    pub(crate) async fn expired(&self) -> Expired {
        tokio::select! {
            () = self.passed() => Expired::Time,
            () = self.cancelled() => Expired::Cancelled,
        }
    }

    /// Moves the limit by what a person may take to answer, and afterwards back by what they did not take: waiting
    /// for a person costs the call none of its time.
    pub(crate) fn pause(&self, at_most: Duration) -> Pause {
        self.shift(|limit| limit + at_most);
        Pause { clock: self.clone(), at_most, began: Instant::now() }
    }

    async fn passed(&self) {
        loop {
            let moved = self.0.moved.notified();
            let limit = self.ends().limit;
            tokio::select! {
                () = sleep_until(limit.into()) => return,
                () = moved => {}
            }
        }
    }

    async fn cancelled(&self) {
        self.0.cancellation.cancelled().await;
        let grace = *self.ends().grace.get_or_insert(Instant::now() + CANCEL_GRACE);
        tokio::select! {
            () = sleep_until(grace.into()) => {}
            () = self.0.cancellation.cancelled_at_once() => {}
        }
    }

    fn shift(&self, change: impl FnOnce(Instant) -> Instant) {
        let mut ends = self.ends();
        ends.limit = change(ends.limit);
        drop(ends);
        self.0.moved.notify_waiters();
    }

    fn ends(&self) -> std::sync::MutexGuard<'_, Ends> {
        self.0.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock that stands still for a person, until this is dropped.
pub(crate) struct Pause {
    clock: Clock,
    at_most: Duration,
    began: Instant,
}

impl Drop for Pause {
    fn drop(&mut self) {
        let unused = self.at_most.saturating_sub(self.began.elapsed());
        self.clock.shift(|limit| limit.checked_sub(unused).unwrap_or(limit));
    }
}
