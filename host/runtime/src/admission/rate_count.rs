//! The calls of one count under a rate, by the host itself and by those that share the rate with it.

use portcullis_policy::CallRate;
use std::time::{Duration, Instant};

/// Maximum hosts that the rates are shared among. More count as this many.
pub(super) const SHARING_HOSTS_MAX: u32 = 10_000;

/// How long a host relies on what it heard of the others. Longer than the second between two reports.
pub(super) const HEARD_AGE_MAX: Duration = Duration::from_secs(3);

/// How long a caller waits whose host has counted its part, and reports that to the others.
pub(super) const REPORT_WAIT: Duration = Duration::from_secs(1);

/// What a host knows of those that share its rates.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSharing {
    /// The number of hosts, this one included. At least 1.
    pub(super) hosts: u32,
    /// When it last heard of them.
    pub(super) heard: Instant,
}

/// How a host counts a call under a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// The rate is its own.
    Own,
    /// It knows what this many hosts have used.
    Together(u32),
    /// It does not know what the others use at the moment, and keeps to its part of the rate.
    Apart(u32),
}

/// The calls of one count.
#[derive(Debug)]
pub(super) struct RateCount {
    /// The time until which the calls so far use up the rate, if they were spread evenly.
    pub(super) paced_until: Instant,
    pub(super) in_progress: u32,
    /// The same time for the calls that all hosts know of.
    pub(super) known_until: Instant,
    /// The calls since then.
    pub(super) unreported: u32,
    /// When the first of them began.
    pub(super) unreported_since: Instant,
    pub(super) rate: Option<CallRate>,
}

impl RateCount {
    pub(super) fn unused(now: Instant) -> Self {
        Self { paced_until: now, in_progress: 0, known_until: now, unreported: 0, unreported_since: now, rate: None }
    }

    /// Returns whether it is the same as a count that was never used.
    pub(super) fn is_unused(&self, now: Instant) -> bool {
        self.in_progress == 0 && self.paced_until <= now && self.unreported == 0
    }

    /// Returns the time until which one more call uses up the rate, or how long to wait before it.
    pub(super) fn next(&self, rate: CallRate, counting: Counting, now: Instant) -> Result<Instant, Duration> {
        let (interval, burst) = match counting {
            Counting::Own | Counting::Together(_) => (rate.interval(), rate.burst),
            // Each call counts for all hosts, because each may make as many. One call is always within the burst.
            Counting::Apart(hosts) => (rate.interval() * hosts, (rate.burst / hosts).max(1)),
        };
        // This is the generic cell rate algorithm. One instant replaces a list of past calls, so a count has a fixed
        // size.
        let next = self.paced_until.max(now) + interval;
        match (next - now).checked_sub(interval * burst) {
            Some(wait) if !wait.is_zero() => return Err(wait),
            Some(_) | None => {}
        }
        match counting {
            // Until the next report, the other hosts count on the same free calls.
            Counting::Together(hosts) if self.unreported >= self.part(rate, hosts, now) => Err(REPORT_WAIT),
            Counting::Own | Counting::Together(_) | Counting::Apart(_) => Ok(next),
        }
    }

    /// Returns how many calls this host may count before it reports them: its part of what all hosts leave free, and
    /// always one.
    pub(super) fn part(&self, rate: CallRate, hosts: u32, now: Instant) -> u32 {
        if hosts == 1 {
            return u32::MAX;
        }
        let used = self.known_until.saturating_duration_since(now).as_nanos();
        let used = used.div_ceil(rate.interval().as_nanos().max(1));
        let free = rate.burst.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX));
        (free / hosts).max(1)
    }

    /// Counts a call under a rate.
    pub(super) fn count(&mut self, rate: Option<CallRate>, paced_until: Instant, counting: Counting, now: Instant) {
        self.paced_until = paced_until;
        if counting != Counting::Own && rate.is_some() {
            if self.unreported == 0 {
                self.unreported_since = now;
            }
            self.unreported = self.unreported.saturating_add(1);
            self.rate = rate;
        }
    }

    /// Notes that all hosts know of calls, and until when the calls of all of them use up the rate.
    pub(super) fn note_reported(&mut self, calls: u32, known_until: Instant, now: Instant) {
        self.unreported = self.unreported.saturating_sub(calls);
        self.unreported_since = now;
        self.known_until = known_until;
        // Calls that began during the report are not in `known_until` yet.
        let step = self.rate.map_or(Duration::ZERO, |rate| rate.interval());
        self.paced_until =
            if self.unreported == 0 { known_until } else { known_until.max(now) + step * self.unreported };
    }
}

impl RateSharing {
    pub(super) fn counting(self, now: Instant) -> Counting {
        match now.saturating_duration_since(self.heard) <= HEARD_AGE_MAX {
            true => Counting::Together(self.hosts),
            false => Counting::Apart(self.hosts),
        }
    }
}
