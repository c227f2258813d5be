//! The deadline of a run. The epoch checks it while the guest computes, and a timer while the guest waits.

use crate::Cancellation;
use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::sleep_until;

/// Grace period of a cancelled guest for its cleanup. It is long enough to answer, and too short for a person to
/// notice.
const CANCEL_GRACE: Duration = Duration::from_millis(200);

/// Maximum time that a call is suspended while it calls other tools. It is longer than any chain of calls, whose tools
/// and approvers all have limits of their own.
const SUSPENDED_TIME_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Why the clock stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Expired {
    #[error("the time limit was reached")]
    Time,
    #[error("the call was cancelled")]
    Cancelled,
}

/// The deadline of one run. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct RunClock(Arc<ClockState>);

#[derive(Debug)]
struct ClockState {
    /// The time limit, and the end of the grace period once the call is cancelled.
    ends: Mutex<Ends>,
    moved: Notify,
    cancellation: Cancellation,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    limit: Instant,
    grace: Option<Instant>,
}

impl RunClock {
    pub(crate) fn start(limit: Duration, cancellation: Cancellation) -> Self {
        let ends = Ends { limit: Instant::now() + limit, grace: None };
        Self(Arc::new(ClockState { ends: Mutex::new(ends), moved: Notify::new(), cancellation }))
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.cancellation.is_cancelled()
    }

    /// Checks whether the run must end. Called at every tick of the epoch.
    pub(crate) fn check(&self) -> Result<(), Expired> {
        let now = Instant::now();
        let mut ends = self.ends();
        let cancellation = &self.0.cancellation;
        // This check and the timer both see a cancellation. The first of them starts the grace period.
        let over = |grace: &mut Option<Instant>| now >= *grace.get_or_insert(now + CANCEL_GRACE);
        if cancellation.is_at_once() || cancellation.is_cancelled() && over(&mut ends.grace) {
            return Err(Expired::Cancelled);
        }
        if now >= ends.limit { Err(Expired::Time) } else { Ok(()) }
    }

    /// Waits until the run must end.
    pub(crate) async fn expired(&self) -> Expired {
        tokio::select! {
            () = self.passed() => Expired::Time,
            () = self.cancelled() => Expired::Cancelled,
        }
    }

    /// Pauses the time limit while the call waits for an approver. Extends the limit by the maximum waiting time, and
    /// takes back the unused part when the result is dropped.
    pub(crate) fn pause(&self, at_most: Duration) -> Pause {
        self.shift(|limit| limit + at_most);
        Pause { clock: self.clone(), at_most, began: Instant::now() }
    }

    /// Stops the time limit while the call waits for the calls of other tools that it makes.
    pub(crate) fn suspend(&self) -> Suspension {
        let time_left = self.ends().limit.saturating_duration_since(Instant::now());
        Suspension { time_left, pause: self.pause(SUSPENDED_TIME_MAX) }
    }

    async fn passed(&self) {
        loop {
            // Register before reading the limit, so that no change is missed in between.
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
        self.0.ends.lock_recovered()
    }
}

/// A guard that pauses the time limit until it is dropped.
pub(crate) struct Pause {
    clock: RunClock,
    at_most: Duration,
    began: Instant,
}

/// A guard that stops the time limit until it is dropped.
pub(crate) struct Suspension {
    time_left: Duration,
    pause: Pause,
}

impl Suspension {
    /// Returns the time that the call had left when it was suspended.
    pub(crate) fn time_left(&self) -> Duration {
        self.time_left
    }

    /// Continues the time limit, and takes from it what the calls of other tools spent.
    pub(crate) fn end(self, spent: Duration) {
        let clock = self.pause.clock.clone();
        // This restores the time that the call had left when it was suspended.
        drop(self.pause);
        clock.shift(|limit| limit.checked_sub(spent).unwrap_or_else(Instant::now));
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let unused = self.at_most.saturating_sub(self.began.elapsed());
        self.clock.shift(|limit| limit.checked_sub(unused).unwrap_or(limit));
    }
}
