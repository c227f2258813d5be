//! Waits for a host with a deadline.

use std::time::Duration;

use super::bindings::wasi::clocks::monotonic_clock;
use super::bindings::wasi::io::poll::{Pollable, poll};

/// The time at which to give up, if there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    nanoseconds: Option<u64>,
}

impl Deadline {
    /// Returns the deadline after this time.
    pub(super) fn after(time: Option<Duration>) -> Self {
        let until = |time: Duration| {
            let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            monotonic_clock::now().saturating_add(time)
        };
        Self { nanoseconds: time.map(until) }
    }

    /// Returns what becomes ready at the deadline, if there is one.
    pub(super) fn timer(self) -> Option<Pollable> {
        self.nanoseconds.map(monotonic_clock::subscribe_instant)
    }

    /// Returns whether the deadline has passed.
    pub(super) fn is_over(self) -> bool {
        self.nanoseconds.is_some_and(|until| monotonic_clock::now() >= until)
    }

    /// Waits until something is ready. Returns false if the deadline came first.
    pub(super) fn wait(self, pollable: &Pollable) -> bool {
        let Some(until) = self.nanoseconds else {
            pollable.block();
            return true;
        };
        let timer = monotonic_clock::subscribe_instant(until);
        poll(&[pollable, &timer]).contains(&0)
    }
}
