//! Tests of the counts, of one host and of several.

use super::*;
use crate::admission::rate_count::{HEARD_AGE_MAX, REPORT_WAIT};
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
    let counts = &counts.counts.lock_recovered().map;
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
    assert_eq!(counts.counts.lock_recovered().map[&limits[0].key].in_progress, 0);
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
    let known = |principal: &str| counts.counts.lock_recovered().map.contains_key(&limits(&policy, principal)[0].key);
    assert_eq!(counts.counts.lock_recovered().map.len(), RATE_COUNTS_MAX);
    assert!(!known("unused") && !known("p0") && known(&format!("p{}", RATE_COUNTS_MAX + 49)));
    assert!(known("running"), "a call in progress keeps its count");
    assert!(take("running", last).is_err());
    assert!(counts.counts.lock_recovered().map.contains_key(&limits(&policy, "a")[1].key), "all principals share it");
    drop(running);
}

/// Otherwise a caller could make principals until the count is gone, and begin again.
#[test]
fn a_count_of_all_principals_outlives_those_of_any_number_of_principals() {
    let (shared, own) = (policy("rate = '2/min'"), policy("per = 'principal'\nrate = '1/h'"));
    let (counts, now) = (Arc::<RateCounts>::default(), Instant::now());
    let take = |policy: &Policy, principal: &str| counts.take(&limits(policy, principal), now);
    drop([take(&shared, "a").unwrap(), take(&shared, "b").unwrap()]);
    for number in 0..=RATE_COUNTS_MAX {
        drop(take(&own, &format!("p{number}")).unwrap());
    }
    assert!(take(&shared, "c").is_err());
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

#[test]
fn a_host_that_shares_counts_its_part_until_it_has_reported() {
    let policy = policy("rate = '20/h'");
    let (counts, limits, start) = (Arc::<RateCounts>::default(), limits(&policy, "a"), Instant::now());
    counts.share_among(4, start);
    for _ in 0..5 {
        assert!(counts.take(&limits, start).is_ok());
    }
    assert_eq!(wait(counts.take(&limits, start)), REPORT_WAIT);
    let reported = counts.unreported(start);
    assert_eq!((reported.len(), reported[0].calls), (1, 5));
    // The other hosts have made three more, so that twelve are free.
    counts.note_reported(&reported[0], Duration::from_secs(8 * 180), start, start);
    assert_eq!(counts.unreported(start), []);
    for _ in 0..3 {
        assert!(counts.take(&limits, start).is_ok());
    }
    assert_eq!(wait(counts.take(&limits, start)), REPORT_WAIT);
    // All are used. A host knows that, and says when there is one again.
    let reported = counts.unreported(start);
    counts.note_reported(&reported[0], Duration::from_secs(20 * 180), start, start);
    assert_eq!(wait(counts.take(&limits, start)), Duration::from_secs(180));
}

#[test]
fn calls_that_are_made_during_a_report_are_reported_next() {
    let policy = policy("rate = '20/h'");
    let (counts, limits, start) = (Arc::<RateCounts>::default(), limits(&policy, "a"), Instant::now());
    counts.share_among(1, start);
    drop(counts.take(&limits, start).unwrap());
    let reported = counts.unreported(start);
    drop(counts.take(&limits, start).unwrap());
    counts.note_reported(&reported[0], Duration::from_secs(180), start, start);
    assert_eq!(counts.unreported(start)[0].calls, 1);
    for _ in 0..18 {
        assert!(counts.take(&limits, start).is_ok());
    }
    assert_eq!(wait(counts.take(&limits, start)), Duration::from_secs(180));
}

#[test]
fn a_host_that_hears_of_no_other_keeps_to_its_part() {
    let policy = policy("rate = '8/s'\nconcurrent = 9");
    let (counts, limits, start) = (Arc::<RateCounts>::default(), limits(&policy, "a"), Instant::now());
    counts.share_among(4, start);
    let mut now = start + HEARD_AGE_MAX + Duration::from_millis(1);
    let mut made = 0;
    for _ in 0..10_000 {
        now += Duration::from_millis(1);
        made += u32::from(counts.take(&limits, now).is_ok());
    }
    // Two in a second, and a burst of two.
    assert!((20..=22).contains(&made), "{made}");
    let held: Vec<_> = (1..4).map(|second| counts.take(&limits, now + Duration::from_secs(second))).collect();
    let held: Vec<_> = held.into_iter().filter_map(Result::ok).collect();
    assert_eq!(held.len(), 2, "a fourth of nine");
}

#[test]
fn a_wrong_number_from_the_database_stops_no_caller_for_long() {
    let policy = policy("rate = '2/s'");
    let (counts, limits, start) = (Arc::<RateCounts>::default(), limits(&policy, "a"), Instant::now());
    counts.share_among(2, start);
    drop(counts.take(&limits, start).unwrap());
    let reported = counts.unreported(start);
    counts.note_reported(&reported[0], Duration::from_micros(u64::MAX), start, start);
    assert!(wait(counts.take(&limits, start)) < Duration::from_secs(10));
}

#[test]
fn a_wrong_number_of_hosts_is_brought_within_bounds() {
    let (policy, start) = (policy("rate = '2/s'"), Instant::now());
    for hosts in [0, u32::MAX] {
        let (counts, limits) = (Arc::<RateCounts>::default(), limits(&policy, "a"));
        counts.share_among(hosts, start);
        drop(counts.take(&limits, start).unwrap());
        let reported = counts.unreported(start);
        counts.note_reported(&reported[0], Duration::ZERO, start, start);
        assert!(counts.take(&limits, start).is_ok(), "{hosts}");
    }
}
