//! The clocks of a guest: the system's time or an injected one, rounded down to what the policy lets a guest measure.
//!
//! A coarse clock does not stop a guest that counts its own steps between two ticks. It takes away the clock that needs
//! no effort, and with one thread in a guest there is no other to count beside what is measured.
//!
//! A guest sleeps in the system's time, whoever gives the time: for the duration it asks for, or for what its clock
//! says is left until the moment it asks for. A coarse clock is never ahead of the system's, so a guest never wakes
//! early, and one that looks again because less than a tick is left sleeps again. Under an injected clock that stands
//! still, a guest that waits for a moment to come waits until its time limit.

use portcullis_policy::ClockResolution;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// What a coarse clock counts in. What another call does to a cache takes nanoseconds to microseconds to measure; what
/// a tool shows to people needs no more than this.
const COARSE_TICK: Duration = Duration::from_millis(1);

/// What a fine clock counts in: as it comes.
const FINE_TICK: Duration = Duration::from_nanos(1);

/// A time that an embedder or a test sets in place of the system's.
pub trait TimeSource: Send + Sync {
    /// Since 1970.
    fn wall(&self) -> Duration;

    /// Since some fixed moment; never less than before.
    fn monotonic(&self) -> Duration;
}

/// Both clocks of one call.
#[derive(Clone)]
pub(super) struct GuestClock {
    tick: Duration,
    source: Source,
}

#[derive(Clone)]
enum Source {
    /// The system's; what is monotonic counts from here.
    System(Instant),
    Injected(Arc<dyn TimeSource>),
}

impl GuestClock {
    pub(super) fn new(resolution: ClockResolution, time: Option<Arc<dyn TimeSource>>) -> Self {
        let tick = match resolution {
            ClockResolution::Coarse => COARSE_TICK,
            ClockResolution::Fine => FINE_TICK,
        };
        Self { tick, source: time.map_or_else(|| Source::System(Instant::now()), Source::Injected) }
    }

    fn wall(&self) -> Duration {
        match &self.source {
            // A system that is set to before 1970 reads as 1970.
            Source::System(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            Source::Injected(time) => time.wall(),
        }
    }

    fn monotonic(&self) -> Duration {
        match &self.source {
            // Never zero: the runtime of Go takes that for a clock that does not work.
            Source::System(began) => COARSE_TICK + began.elapsed(),
            Source::Injected(time) => time.monotonic(),
        }
    }

    fn round(&self, time: Duration) -> Duration {
        // A tick divides a second, so the seconds are whole.
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

    struct At(Duration);

    impl TimeSource for At {
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
            let clock = GuestClock::new(ClockResolution::Coarse, Some(Arc::new(At(given))));
            assert_eq!(HostWallClock::now(&clock), Duration::from_nanos(shown));
            assert_eq!(HostMonotonicClock::now(&clock), shown);
            let clock = GuestClock::new(ClockResolution::Fine, Some(Arc::new(At(given))));
            assert_eq!(HostWallClock::now(&clock), given);
        }
    }

    #[test]
    fn a_time_beyond_what_a_guest_can_hold_is_the_last_it_can() {
        let clock = GuestClock::new(ClockResolution::Coarse, Some(Arc::new(At(Duration::MAX))));
        assert_eq!(HostMonotonicClock::now(&clock), u64::MAX);
    }
}
