//! Waiting for a host, until a moment and no longer.

use std::time::Duration;

use super::bindings::wasi::clocks::monotonic_clock;
use super::bindings::wasi::io::poll::{Pollable, poll};

/// The moment at which to give up, where there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    nanoseconds: Option<u64>,
}

impl Deadline {
    /// The moment that is this far away.
    pub(super) fn after(time: Option<Duration>) -> Self {
        let until = |time: Duration| {
            let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            monotonic_clock::now().saturating_add(time)
        };
        Self { nanoseconds: time.map(until) }
    }

    /// Waits until something is ready. False: the moment came first.
    pub(super) fn wait(self, pollable: &Pollable) -> bool {
        let Some(until) = self.nanoseconds else {
            pollable.block();
            return true;
        };
        let timer = monotonic_clock::subscribe_instant(until);
        poll(&[pollable, &timer]).contains(&0)
    }
}
