//! The current usage of the server by each principal.

use super::call_rate::CallRate;
use super::options::{HttpLimits, PRINCIPALS_MAX};
use portcullis::policy::Principal;
use portcullis::policy::recovery::RecoverMutex;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The usage of all principals.
#[derive(Debug)]
pub(crate) struct SlotUsage {
    limits: HttpLimits,
    principals: Mutex<HashMap<Principal, Used>>,
}

/// The usage of one principal.
#[derive(Debug)]
struct Used {
    requests: usize,
    streams: usize,
    /// The time until which the calls so far use up the principal's rate, if they were spread evenly.
    paced_until: Instant,
}

/// A limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageSlot {
    /// An open request.
    Request,
    /// A stream for notifications.
    Stream,
}

/// An error: the principal has reached its limit, or there are too many principals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// One slot. Dropping it releases the slot.
#[derive(Debug)]
pub(crate) struct HeldSlot {
    usage: Arc<SlotUsage>,
    principal: Principal,
    slot: UsageSlot,
}

impl SlotUsage {
    pub(crate) fn new(limits: HttpLimits) -> Arc<Self> {
        Arc::new(Self { limits, principals: Mutex::default() })
    }

    /// Acquires a slot for a principal.
    pub(crate) fn hold(self: &Arc<Self>, principal: &Principal, slot: UsageSlot) -> Result<HeldSlot, Exhausted> {
        let mut principals = self.principals();
        let used = entry(&mut principals, principal)?;
        let (count, most) = match slot {
            UsageSlot::Request => (&mut used.requests, self.limits.requests),
            UsageSlot::Stream => (&mut used.streams, self.limits.streams),
        };
        if *count >= most {
            return Err(Exhausted);
        }
        *count += 1;
        Ok(HeldSlot { usage: Arc::clone(self), principal: principal.clone(), slot })
    }

    /// Counts the calls of one request, or returns how long to wait before it. A request with more calls than a burst
    /// takes a whole burst.
    pub(crate) fn call(&self, principal: &Principal, calls: u32, rate: CallRate) -> Result<(), Duration> {
        let mut principals = self.principals();
        let share = Duration::from_secs(1) / rate.calls_per_second.max(1);
        let burst_calls = rate.burst.max(1);
        let burst = share * burst_calls;
        let used = entry(&mut principals, principal).map_err(|Exhausted| burst)?;
        // After the entry, whose own time may be this moment.
        let now = Instant::now();
        // The generic cell rate algorithm: one time for each principal takes the place of a bucket of tokens.
        let next = used.paced_until.max(now) + share * calls.min(burst_calls);
        match (next - now).checked_sub(burst) {
            // A refused request does not count, so an early retry does not lengthen the wait.
            Some(wait) if !wait.is_zero() => Err(wait),
            Some(_) | None => {
                used.paced_until = next;
                Ok(())
            }
        }
    }

    fn principals(&self) -> MutexGuard<'_, HashMap<Principal, Used>> {
        self.principals.lock_recovered()
    }
}

/// Returns the entry of a principal. If there are too many, removes the idle principals first.
fn entry<'a>(principals: &'a mut HashMap<Principal, Used>, principal: &Principal) -> Result<&'a mut Used, Exhausted> {
    let now = Instant::now();
    if principals.len() >= PRINCIPALS_MAX && !principals.contains_key(principal) {
        // A principal that is still paced stays, or it would get a new burst by being forgotten.
        principals.retain(|_, used| used.requests > 0 || used.streams > 0 || used.paced_until > now);
        if principals.len() >= PRINCIPALS_MAX {
            return Err(Exhausted);
        }
    }
    let fresh = Used { requests: 0, streams: 0, paced_until: now };
    Ok(principals.entry(principal.clone()).or_insert(fresh))
}

impl Drop for HeldSlot {
    fn drop(&mut self) {
        let mut principals = self.usage.principals();
        if let Some(used) = principals.get_mut(&self.principal) {
            let count = match self.slot {
                UsageSlot::Request => &mut used.requests,
                UsageSlot::Stream => &mut used.streams,
            };
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(limits: HttpLimits) -> (Arc<SlotUsage>, Principal, Principal) {
        (SlotUsage::new(limits), "a".parse().unwrap(), "b".parse().unwrap())
    }

    #[test]
    fn the_slots_of_each_principal_are_limited_separately() {
        let (usage, a, b) = usage(HttpLimits { requests: 2, streams: 1, ..HttpLimits::default() });
        let held =
            [UsageSlot::Request, UsageSlot::Request, UsageSlot::Stream].map(|slot| usage.hold(&a, slot).unwrap());
        assert!(usage.hold(&a, UsageSlot::Request).is_err() && usage.hold(&a, UsageSlot::Stream).is_err());
        assert!(usage.hold(&b, UsageSlot::Request).is_ok() && usage.hold(&b, UsageSlot::Stream).is_ok());
        drop(held);
        assert!(usage.hold(&a, UsageSlot::Request).is_ok() && usage.hold(&a, UsageSlot::Stream).is_ok());
    }

    #[test]
    fn calls_beyond_a_burst_must_wait_but_other_principals_need_not() {
        let (usage, a, b) = usage(HttpLimits::default());
        let rate = CallRate { calls_per_second: 1, burst: 3 };
        (0..3).for_each(|_| usage.call(&a, 1, rate).unwrap());
        let wait = usage.call(&a, 1, rate).unwrap_err();
        assert!(!wait.is_zero() && wait <= Duration::from_secs(1), "{wait:?}");
        // A batch counts as its calls, and one with more calls than a burst still runs after an idle time.
        usage.call(&b, 2, rate).unwrap();
        assert!(usage.call(&b, 2, rate).unwrap_err() <= Duration::from_secs(1));
        usage.call(&"c".parse().unwrap(), 25, rate).unwrap();
        assert!(usage.call(&"c".parse().unwrap(), 1, rate).is_err());
    }

    #[test]
    fn idle_principals_are_forgotten_when_there_are_too_many_but_busy_ones_are_not() {
        let (usage, a, _) = usage(HttpLimits::default());
        let held = usage.hold(&a, UsageSlot::Request).unwrap();
        for number in 0..2 * PRINCIPALS_MAX {
            drop(usage.hold(&format!("p{number}").parse().unwrap(), UsageSlot::Request).unwrap());
        }
        assert!(usage.principals().len() <= PRINCIPALS_MAX);
        assert_eq!(usage.principals().get(&a).map(|used| used.requests), Some(1));
        drop(held);
    }
}
