//! The clocks of a guest: the system's time or an injected time, rounded down to the resolution that the policy allows.
//!
//! A coarse clock makes timing attacks harder, but does not prevent them: a guest can still count its own steps between
//! two ticks. A guest has only one thread, so it cannot count while it runs the code that it measures.
//!
//! A guest always sleeps in the system's time, even with an injected clock. It sleeps for the given duration, or for
//! the time that its clock shows until the given moment. A coarse clock is never ahead of the system's, so a guest
//! never wakes early. If less than a tick is left, it sleeps again. With an injected clock that does not advance, a
//! guest that waits for a moment waits until its time limit.

use portcullis_policy::ClockResolution;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// The tick of a coarse clock. Measuring the effect of another call on a cache needs nanoseconds to microseconds. Times
/// that a tool shows to people need no more than this.
const COARSE_TICK: Duration = Duration::from_millis(1);

/// The tick of a fine clock: the full resolution.
const FINE_TICK: Duration = Duration::from_nanos(1);

/// A time source of an embedder or a test, which replaces the system's clocks.
pub trait TimeSource: Send + Sync {
    /// Returns the time since the Unix epoch.
    fn wall(&self) -> Duration;

    /// Returns the time since some fixed moment. It must never decrease.
    fn monotonic(&self) -> Duration;
}

/// The wall clock and the monotonic clock of one call.
#[derive(Clone)]
pub(super) struct GuestClock {
    tick: Duration,
    source: ClockSource,
}

#[derive(Clone)]
enum ClockSource {
    /// The system's clocks. The monotonic time counts from this instant.
    System(Instant),
    Injected(Arc<dyn TimeSource>),
}

impl GuestClock {
    pub(super) fn new(resolution: ClockResolution, time: Option<Arc<dyn TimeSource>>) -> Self {
        let tick = match resolution {
            ClockResolution::Coarse => COARSE_TICK,
            ClockResolution::Fine => FINE_TICK,
        };
        Self { tick, source: time.map_or_else(|| ClockSource::System(Instant::now()), ClockSource::Injected) }
    }

    fn wall(&self) -> Duration {
        match &self.source {
            // If the system's clock is set to before 1970, return 1970.
            ClockSource::System(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            ClockSource::Injected(time) => time.wall(),
        }
    }

    fn monotonic(&self) -> Duration {
        match &self.source {
            // Never zero, because Go's runtime treats zero as a broken clock.
            ClockSource::System(began) => COARSE_TICK + began.elapsed(),
            ClockSource::Injected(time) => time.monotonic(),
        }
    }

    fn round(&self, time: Duration) -> Duration {
        // A tick divides a second evenly, so only the nanoseconds need rounding.
        let tick = self.tick.subsec_nanos();
        Duration::new(time.as_secs(), time.subsec_nanos() / tick * tick)
    }
}

impl HostWallClock for GuestClock {
    fn resolution(&self) -> Duration {
        self.tick
    }

    fn now(&self) -> Duration {
        self.round(self.wall())
    }
}

impl HostMonotonicClock for GuestClock {
    fn resolution(&self) -> u64 {
        nanoseconds(self.tick)
    }

    fn now(&self) -> u64 {
        nanoseconds(self.round(self.monotonic()))
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct ClockReading(Duration);

    impl TimeSource for ClockReading {
        fn wall(&self) -> Duration {
            self.0
        }

        fn monotonic(&self) -> Duration {
            self.0
        }
    }

    #[test]
    fn a_coarse_clock_shows_whole_milliseconds_and_is_never_ahead() {
        for (given, shown) in [
            (0, 0),
            (999_999, 0),
            (1_000_000, 1_000_000),
            (1_999_999, 1_000_000),
            (5_000_000_000, 5_000_000_000),
            (5_999_999_999, 5_999_000_000),
        ] {
            let given = Duration::from_nanos(given);
            let clock = GuestClock::new(ClockResolution::Coarse, Some(Arc::new(ClockReading(given))));
            assert_eq!(HostWallClock::now(&clock), Duration::from_nanos(shown));
            assert_eq!(HostMonotonicClock::now(&clock), shown);
            let clock = GuestClock::new(ClockResolution::Fine, Some(Arc::new(ClockReading(given))));
            assert_eq!(HostWallClock::now(&clock), given);
        }
    }

    #[test]
    fn a_time_that_is_too_large_becomes_the_maximum() {
        let clock = GuestClock::new(ClockResolution::Coarse, Some(Arc::new(ClockReading(Duration::MAX))));
        assert_eq!(HostMonotonicClock::now(&clock), u64::MAX);
    }
}
