//! Counts calls under the rate limits of the policy: how many began lately, and how many are in progress.
//!
//! [`RateCounts::take`] is the only way to begin a call, and dropping what it returns is the only way to give it back.
//! So the counts can move to where several hosts share them. This file must not know which limits apply to a call, or
//! what a refused caller is told.

use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{CallRate, CountedPer, Principal, RateLimit, ToolName};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Maximum counts of a host. A caller can make principals without end, and each has a count of its own. At about 200
/// bytes each, all of them take less than one mebibyte.
pub(crate) const RATE_COUNTS_MAX: usize = 4096;

/// The counts of a host.
#[derive(Debug, Default)]
pub(crate) struct RateCounts(Mutex<HashMap<RateCountKey, RateCount>>);

/// A limit that counts a call, and the count that the call belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedLimit {
    key: RateCountKey,
    rate: Option<CallRate>,
    concurrent: Option<u32>,
}

/// What a count belongs to. The text of the limit has its numbers. So after a reload, a limit whose numbers did not
/// change goes on with its counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RateCountKey {
    limit: Arc<str>,
    /// The root principal, if each has a count of its own.
    principal: Option<Principal>,
    /// The tool, if each has a count of its own.
    tool: Option<ToolName>,
}

/// The calls of one count.
#[derive(Debug)]
struct RateCount {
    /// The time until which the calls so far use up the rate, if they were spread evenly.
    paced_until: Instant,
    in_progress: u32,
}

/// Why a call may not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateExceeded {
    /// The rate of a limit is used up.
    Rate {
        /// The place of the limit among those that count the call.
        limit: usize,
        /// How long to wait.
        wait: Duration,
    },
    /// As many calls as a limit allows are in progress.
    Concurrent {
        /// The place of the limit among those that count the call.
        limit: usize,
    },
    /// Too many counts are in use.
    Counts,
}

/// A call that counts as in progress, until this is dropped.
#[derive(Debug)]
#[must_use = "the call counts only as long as this is held"]
pub(crate) struct CountedCall {
    counts: Arc<RateCounts>,
    /// The counts of the limits on calls in progress.
    keys: Vec<RateCountKey>,
    presence: Presence,
}

/// Whether a call counts as in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    InProgress,
    /// It waits for calls that it makes.
    Paused,
}

impl CountedLimit {
    /// Returns the count that a call belongs to. `principal` is the root of the caller.
    pub(crate) fn of(limit: &RateLimit, principal: &Principal, tool: &ToolName) -> Self {
        let key = RateCountKey {
            limit: Arc::clone(limit.text()),
            principal: limit.is_counted_per(CountedPer::Principal).then(|| principal.clone()),
            tool: limit.is_counted_per(CountedPer::Tool).then(|| tool.clone()),
        };
        Self { key, rate: limit.rate(), concurrent: limit.concurrent() }
    }
}

impl RateCount {
    fn unused(now: Instant) -> Self {
        Self { paced_until: now, in_progress: 0 }
    }

    /// Returns whether it is the same as a count that was never used.
    fn is_unused(&self, now: Instant) -> bool {
        self.in_progress == 0 && self.paced_until <= now
    }

    /// Returns the time until which one more call uses up the rate, or how long to wait before it.
    fn next(&self, rate: CallRate, now: Instant) -> Result<Instant, Duration> {
        let interval = rate.interval();
        let next = self.paced_until.max(now) + interval;
        match (next - now).checked_sub(interval * rate.burst) {
            Some(wait) if !wait.is_zero() => Err(wait),
            Some(_) | None => Ok(next),
        }
    }
}

impl RateCounts {
    /// Counts a call under all of these limits, or under none of them if one is exceeded.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(crate) fn take(self: &Arc<Self>, limits: &[CountedLimit], now: Instant) -> Result<CountedCall, RateExceeded> {
        let mut counts = self.0.lock_recovered();
        make_room(&mut counts, limits, now)?;
        let paced = check(&counts, limits, now)?;
        for (CountedLimit { key, concurrent, .. }, paced_until) in limits.iter().zip(paced) {
            let count = counts.entry(key.clone()).or_insert_with(|| RateCount::unused(now));
            count.paced_until = paced_until;
            count.in_progress += u32::from(concurrent.is_some());
        }
        drop(counts);
        let keys = limits.iter().filter(|limit| limit.concurrent.is_some()).map(|limit| limit.key.clone());
        Ok(CountedCall { counts: Arc::clone(self), keys: keys.collect(), presence: Presence::InProgress })
    }

    /// Returns whether [`RateCounts::take`] would count a call now, without counting it.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(crate) fn check(&self, limits: &[CountedLimit], now: Instant) -> Result<(), RateExceeded> {
        check(&self.0.lock_recovered(), limits, now).map(|_| ())
    }

    fn add(&self, keys: &[RateCountKey]) {
        let mut counts = self.0.lock_recovered();
        for key in keys {
            let count = counts.entry(key.clone()).or_insert_with(|| RateCount::unused(Instant::now()));
            count.in_progress = count.in_progress.saturating_add(1);
        }
    }

    fn remove(&self, keys: &[RateCountKey]) {
        let mut counts = self.0.lock_recovered();
        for key in keys {
            if let Some(count) = counts.get_mut(key) {
                count.in_progress = count.in_progress.saturating_sub(1);
            }
        }
    }
}

/// Returns, for each limit, the time until which the call uses up its rate.
fn check(
    counts: &HashMap<RateCountKey, RateCount>,
    limits: &[CountedLimit],
    now: Instant,
) -> Result<Vec<Instant>, RateExceeded> {
    let (unused, mut paced, mut exceeded) = (RateCount::unused(now), Vec::with_capacity(limits.len()), None);
    for (place, CountedLimit { key, rate, concurrent }) in limits.iter().enumerate() {
        let count = counts.get(key).unwrap_or(&unused);
        match rate.map_or(Ok(count.paced_until), |rate| count.next(rate, now)) {
            Ok(until) => paced.push(until),
            Err(wait) => exceeded = longer(exceeded, RateExceeded::Rate { limit: place, wait }),
        }
        if concurrent.is_some_and(|most| count.in_progress >= most) {
            exceeded = longer(exceeded, RateExceeded::Concurrent { limit: place });
        }
    }
    exceeded.map_or(Ok(paced), Err)
}

/// Returns which of two reasons a caller has to be told: the one with the longest known wait.
fn longer(one: Option<RateExceeded>, other: RateExceeded) -> Option<RateExceeded> {
    let wait = |exceeded: &RateExceeded| match exceeded {
        RateExceeded::Rate { wait, .. } => *wait,
        RateExceeded::Concurrent { .. } | RateExceeded::Counts => Duration::ZERO,
    };
    match one {
        Some(one) if wait(&one) >= wait(&other) => Some(one),
        Some(_) | None => Some(other),
    }
}

/// Makes room for the counts that a call needs. The unused ones go first, and then those of principals that are unused
/// the soonest. A count of calls in progress stays, and so does one that all principals share.
fn make_room(
    counts: &mut HashMap<RateCountKey, RateCount>,
    limits: &[CountedLimit],
    now: Instant,
) -> Result<(), RateExceeded> {
    let missing = limits.iter().filter(|limit| !counts.contains_key(&limit.key)).count();
    if missing == 0 || counts.len() + missing <= RATE_COUNTS_MAX {
        return Ok(());
    }
    counts.retain(|key, count| !count.is_unused(now) || limits.iter().any(|limit| limit.key == *key));
    while counts.len() + missing > RATE_COUNTS_MAX {
        let is_removable = |(key, count): &(&RateCountKey, &RateCount)| {
            key.principal.is_some() && count.in_progress == 0 && !limits.iter().any(|limit| limit.key == **key)
        };
        let soonest = counts.iter().filter(is_removable).min_by_key(|(_, count)| count.paced_until);
        let soonest = soonest.map(|(key, _)| key.clone()).ok_or(RateExceeded::Counts)?;
        counts.remove(&soonest);
    }
    Ok(())
}

impl CountedCall {
    /// Stops counting the call as in progress while it waits for calls that it makes. Those count for themselves.
    pub(crate) fn pause(&mut self) {
        if self.presence == Presence::InProgress {
            self.presence = Presence::Paused;
            self.counts.remove(&self.keys);
        }
    }

    /// Counts the call as in progress again, even if the limit is reached: a call that has begun is not refused.
    pub(crate) fn resume(&mut self) {
        if self.presence == Presence::Paused {
            self.presence = Presence::InProgress;
            self.counts.add(&self.keys);
        }
    }
}

impl Drop for CountedCall {
    fn drop(&mut self) {
        self.pause();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_policy::{Caller, Policy};

    /// Returns the counted limits of a call of `web.fetch`.
    fn limits(policy: &Policy, principal: &str) -> Vec<CountedLimit> {
        let (principal, tool): (Principal, ToolName) = (principal.parse().unwrap(), "web.fetch".parse().unwrap());
        let caller = Caller { session: "s", principal: &principal, automated: false };
        let of = |limit| CountedLimit::of(limit, &principal.root(), &tool);
        policy.rate_limits_of(&tool, caller).map(of).collect()
    }

    fn policy(keys: &str) -> Policy {
        Policy::parse(&format!("[[rate-limit]]\n{keys}\n")).unwrap()
    }

    fn wait(exceeded: Result<CountedCall, RateExceeded>) -> Duration {
        match exceeded {
            Err(RateExceeded::Rate { wait, .. }) => wait,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_burst_is_refilled_at_the_rate() {
        let policy = policy("rate = '2/s'\nburst = 3");
        let (counts, limits, start) = (Arc::<RateCounts>::default(), limits(&policy, "a"), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        for _ in 0..3 {
            assert!(counts.take(&limits, at(0)).is_ok());
        }
        assert_eq!(wait(counts.take(&limits, at(0))), Duration::from_millis(500));
        assert_eq!(wait(counts.take(&limits, at(400))), Duration::from_millis(100));
        assert!(counts.take(&limits, at(500)).is_ok());
        assert_eq!(wait(counts.take(&limits, at(500))), Duration::from_millis(500));
        // After a long time there is one burst and no more.
        for _ in 0..3 {
            assert!(counts.take(&limits, at(3_600_000)).is_ok());
        }
        assert_eq!(wait(counts.take(&limits, at(3_600_000))), Duration::from_millis(500));
    }

    #[test]
    fn a_minute_of_calls_at_the_rate_is_never_refused() {
        let policy = policy("rate = '30/min'\nburst = 1");
        let (counts, limits, start) = (Arc::<RateCounts>::default(), limits(&policy, "a"), Instant::now());
        for call in 0..30 {
            assert!(counts.take(&limits, start + Duration::from_secs(2 * call)).is_ok(), "{call}");
        }
        assert_eq!(wait(counts.take(&limits, start + Duration::from_secs(59))), Duration::from_secs(1));
    }

    #[test]
    fn a_refused_call_counts_under_no_limit() {
        let both = "rate = '1/s'\n[[rate-limit]]\nrate = '1/h'\n[[rate-limit]]\nconcurrent = 1";
        let (counts, limits, start) = (Arc::<RateCounts>::default(), limits(&policy(both), "a"), Instant::now());
        drop(counts.take(&limits, start).unwrap());
        let later = start + Duration::from_secs(2);
        assert_eq!(
            counts.take(&limits, later).unwrap_err(),
            RateExceeded::Rate { limit: 1, wait: Duration::from_secs(3598) }
        );
        let counts = counts.0.lock_recovered();
        assert!(counts[&limits[0].key].is_unused(later) && counts[&limits[2].key].in_progress == 0);
    }

    #[test]
    fn a_check_spends_nothing() {
        let policy = policy("rate = '1/h'\nconcurrent = 1");
        let (counts, limits, now) = (Arc::<RateCounts>::default(), limits(&policy, "a"), Instant::now());
        for _ in 0..3 {
            assert_eq!(counts.check(&limits, now), Ok(()));
        }
        let call = counts.take(&limits, now).unwrap();
        assert!(matches!(counts.check(&limits, now), Err(RateExceeded::Rate { limit: 0, .. })));
        drop(call);
    }

    #[test]
    fn calls_in_progress_end_when_they_are_dropped_and_do_not_count_while_they_are_paused() {
        let policy = policy("concurrent = 2");
        let (counts, limits, now) = (Arc::<RateCounts>::default(), limits(&policy, "a"), Instant::now());
        let (mut one, two) = (counts.take(&limits, now).unwrap(), counts.take(&limits, now).unwrap());
        let full = RateExceeded::Concurrent { limit: 0 };
        assert_eq!(counts.take(&limits, now).unwrap_err(), full);
        one.pause();
        one.pause();
        let three = counts.take(&limits, now).unwrap();
        assert_eq!(counts.take(&limits, now).unwrap_err(), full);
        one.resume();
        one.resume();
        drop((two, three));
        let two = counts.take(&limits, now).unwrap();
        assert_eq!(counts.take(&limits, now).unwrap_err(), full);
        one.pause();
        drop((one, two));
        assert_eq!(counts.0.lock_recovered()[&limits[0].key].in_progress, 0);
    }

    #[test]
    fn the_number_of_counts_is_bounded_and_unused_ones_go_first() {
        let text = "per = 'principal'\nrate = '1/h'\nconcurrent = 5\n[[rate-limit]]\nrate = '1000/s'";
        let (policy, counts, start) = (policy(text), Arc::<RateCounts>::default(), Instant::now());
        let take = |principal: &str, now| counts.take(&limits(&policy, principal), now);
        drop(take("unused", start).unwrap());
        // A count is the same as one that was never used once its burst is full.
        let now = start + Duration::from_secs(3600);
        let running = take("running", now).unwrap();
        for number in 0..RATE_COUNTS_MAX + 50 {
            let at = now + Duration::from_millis(number as u64);
            drop(take(&format!("p{number}"), at).unwrap());
        }
        let last = now + Duration::from_secs(10);
        let known = |principal: &str| counts.0.lock_recovered().contains_key(&limits(&policy, principal)[0].key);
        assert_eq!(counts.0.lock_recovered().len(), RATE_COUNTS_MAX);
        assert!(!known("unused") && !known("p0") && known(&format!("p{}", RATE_COUNTS_MAX + 49)));
        assert!(known("running"), "a call in progress keeps its count");
        assert!(take("running", last).is_err());
        assert!(counts.0.lock_recovered().contains_key(&limits(&policy, "a")[1].key), "all principals share it");
        drop(running);
    }

    #[test]
    fn a_call_is_refused_if_every_count_is_in_use() {
        let policy = policy("per = 'principal'\nconcurrent = 1");
        let (counts, now) = (Arc::<RateCounts>::default(), Instant::now());
        let take = |number: usize| counts.take(&limits(&policy, &format!("p{number}")), now);
        let calls: Vec<CountedCall> = (0..RATE_COUNTS_MAX).map(|number| take(number).unwrap()).collect();
        assert_eq!(take(RATE_COUNTS_MAX).unwrap_err(), RateExceeded::Counts);
        drop(calls);
        assert!(take(RATE_COUNTS_MAX).is_ok());
    }

    #[test]
    fn sub_agents_share_the_count_of_their_root_and_tools_can_have_their_own() {
        let own = policy("per = ['tool', 'principal']\nrate = '1/h'");
        assert_eq!(limits(&own, "a/b/c"), limits(&own, "a"));
        assert_ne!(limits(&own, "a"), limits(&own, "b"));
        let shared = policy("rate = '1/h'");
        assert_eq!(limits(&shared, "a"), limits(&shared, "b"));
        assert!(limits(&own, "a")[0].key.tool.is_some() && limits(&shared, "a")[0].key.tool.is_none());
    }
}
