//! Counts calls under the rate limits of the policy: how many began lately, and how many are in progress.
//!
//! [`RateCounts::take`] is the only way to begin a call, and dropping what it returns is the only way to give it back.
//! This file must not know which limits apply to a call, or what the message to a refused caller says.
//!
//! Hosts that share a ledger share the rates too. Each counts calls here at once, reports them to the others within a
//! second, and hears what all of them have used. Between two reports, a host counts at most its part of what was free
//! at the last one. `docs/scale.md` has the error that follows from this.

use super::rate_count::{Counting, RateCount, RateSharing, SHARING_HOSTS_MAX};
use crate::text::sha256;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{CallRate, CountedPer, Principal, RateLimit, ToolName};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Maximum counts of a host. A caller can make principals without end, and each has a count of its own. At about 200
/// bytes each, all of them take less than one mebibyte.
pub(crate) const RATE_COUNTS_MAX: usize = 4096;

/// Maximum calls by which all hosts together can have exceeded a rate, for a host that hears of more. So a wrong row in
/// the database stops no caller for longer than a few bursts.
const EXCESS_BURSTS_MAX: u32 = 4;

/// The counts of a host.
#[derive(Debug, Default)]
pub(crate) struct RateCounts {
    counts: Mutex<CountTable>,
    /// Notified when there is something to report to the other hosts.
    used: Notify,
}

#[derive(Debug, Default)]
struct CountTable {
    map: HashMap<RateCountKey, RateCount>,
    /// The hosts that share the rates. `None` if this host has its own.
    sharing: Option<RateSharing>,
}

/// Calls of a count that the other hosts do not know yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnreportedUse {
    key: RateCountKey,
    pub(crate) calls: u32,
    /// The time in which one more call becomes possible.
    pub(crate) step: Duration,
    /// How long ago the first call began.
    pub(crate) age: Duration,
}

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

impl UnreportedUse {
    /// Returns what identifies the count on every host. It reveals neither a principal nor a tool.
    pub(crate) fn shared_key(&self) -> String {
        let RateCountKey { limit, principal, tool } = &self.key;
        let principal = principal.as_ref().map(Principal::as_str).unwrap_or_default();
        let tool = tool.as_ref().map(ToString::to_string).unwrap_or_default();
        // No part has a line break.
        sha256(format!("{limit}\n{principal}\n{tool}"))
    }
}

impl CountTable {
    fn counting(&self, now: Instant) -> Counting {
        self.sharing.map_or(Counting::Own, |sharing| sharing.counting(now))
    }
}

impl RateCounts {
    /// Counts a call under all of these limits, or under none of them if one is exceeded.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(crate) fn take(self: &Arc<Self>, limits: &[CountedLimit], now: Instant) -> Result<CountedCall, RateExceeded> {
        let mut table = self.counts.lock_recovered();
        make_room(&mut table.map, limits, now)?;
        let counting = table.counting(now);
        let paced = check(&table, limits, now)?;
        for (limit, paced_until) in limits.iter().zip(paced) {
            let count = table.map.entry(limit.key.clone()).or_insert_with(|| RateCount::unused(now));
            count.count(limit.rate, paced_until, counting, now);
            count.in_progress += u32::from(limit.concurrent.is_some());
        }
        drop(table);
        if counting != Counting::Own {
            self.used.notify_one();
        }
        let keys = limits.iter().filter(|limit| limit.concurrent.is_some()).map(|limit| limit.key.clone());
        Ok(CountedCall { counts: Arc::clone(self), keys: keys.collect(), presence: Presence::InProgress })
    }

    /// Returns whether [`RateCounts::take`] would count a call now, without counting it.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub(crate) fn check(&self, limits: &[CountedLimit], now: Instant) -> Result<(), RateExceeded> {
        check(&self.counts.lock_recovered(), limits, now).map(|_| ())
    }

    /// Shares the rates among this many hosts from now on.
    pub(crate) fn share_among(&self, hosts: u32, now: Instant) {
        let hosts = hosts.clamp(1, SHARING_HOSTS_MAX);
        self.counts.lock_recovered().sharing = Some(RateSharing { hosts, heard: now });
    }

    /// Returns the calls that the other hosts do not know yet.
    pub(crate) fn unreported(&self, now: Instant) -> Vec<UnreportedUse> {
        let table = self.counts.lock_recovered();
        let of = |(key, count): (&RateCountKey, &RateCount)| {
            let rate = count.rate.filter(|_| count.unreported > 0)?;
            let age = now.saturating_duration_since(count.unreported_since);
            Some(UnreportedUse { key: key.clone(), calls: count.unreported, step: rate.interval(), age })
        };
        table.map.iter().filter_map(of).collect()
    }

    /// Notes that all hosts know of calls, and for how long from `sent` the calls of all of them use up the rate.
    pub(crate) fn note_reported(&self, reported: &UnreportedUse, ahead: Duration, sent: Instant, now: Instant) {
        let mut table = self.counts.lock_recovered();
        let hosts = table.sharing.map_or(1, |sharing| sharing.hosts);
        let Some(count) = table.map.get_mut(&reported.key) else { return };
        let calls_max = count.rate.map_or(0, |rate| rate.burst * EXCESS_BURSTS_MAX) + hosts;
        count.note_reported(reported.calls, sent + ahead.min(reported.step * calls_max), now);
    }

    /// Waits until there is something to report.
    pub(crate) async fn used(&self) {
        self.used.notified().await;
    }

    fn add(&self, keys: &[RateCountKey]) {
        let counts = &mut self.counts.lock_recovered().map;
        for key in keys {
            // While the call was paused, its count may have been removed to make room.
            let count = counts.entry(key.clone()).or_insert_with(|| RateCount::unused(Instant::now()));
            count.in_progress = count.in_progress.saturating_add(1);
        }
    }

    fn remove(&self, keys: &[RateCountKey]) {
        let counts = &mut self.counts.lock_recovered().map;
        for key in keys {
            if let Some(count) = counts.get_mut(key) {
                count.in_progress = count.in_progress.saturating_sub(1);
            }
        }
    }
}

/// Returns, for each limit, the time until which the call uses up its rate.
fn check(table: &CountTable, limits: &[CountedLimit], now: Instant) -> Result<Vec<Instant>, RateExceeded> {
    let counting = table.counting(now);
    let hosts = table.sharing.map_or(1, |sharing| sharing.hosts);
    let (unused, mut paced, mut exceeded) = (RateCount::unused(now), Vec::with_capacity(limits.len()), None);
    for (place, CountedLimit { key, rate, concurrent }) in limits.iter().enumerate() {
        let count = table.map.get(key).unwrap_or(&unused);
        match rate.map_or(Ok(count.paced_until), |rate| count.next(rate, counting, now)) {
            Ok(until) => paced.push(until),
            Err(wait) => exceeded = longer(exceeded, RateExceeded::Rate { limit: place, wait }),
        }
        // Each host has its part of the calls in progress, whether it hears of the others or not.
        if concurrent.is_some_and(|most| count.in_progress >= (most / hosts).max(1)) {
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
        // If shared counts were removable, a caller could make new principals until a shared rate is forgotten.
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
mod tests;
