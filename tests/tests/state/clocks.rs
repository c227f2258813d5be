//! Time measurements by a guest: S56 of the threat model, and an embedder's clock.

use crate::state::desk::{builder, open, site, take};
use portcullis::TimeSource;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MILLISECOND: u64 = 1_000_000;
const FINE: &str = "[plugin.state-one]\nclock = \"fine\"\n";

/// How often a guest reads both clocks: enough to take many milliseconds on any machine.
const LOOKS: u64 = 100_000;

/// A clock that advances by this many nanoseconds on each read.
struct Injected {
    wall: Duration,
    monotonic: AtomicU64,
    step: u64,
}

impl TimeSource for Injected {
    fn wall(&self) -> Duration {
        self.wall
    }

    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.monotonic.fetch_add(self.step, Ordering::Relaxed))
    }
}

fn times(found: &Value, clock: &str) -> Vec<u64> {
    serde_json::from_value(found["ok"][clock].clone()).unwrap()
}

fn shortest_step(times: &[u64]) -> u64 {
    times.windows(2).map(|pair| pair[1] - pair[0]).min().expect("the clock stood still")
}

fn looks(looks: u64) -> Value {
    json!([{"op": "clocks", "number": looks}])
}

#[tokio::test]
async fn a_clock_has_millisecond_resolution() {
    let site = site().await;
    let host = open(&site, "").await;
    let found = take(&host, looks(LOOKS)).await.remove(0);
    for clock in ["monotonic", "wall"] {
        let times = times(&found, clock);
        assert!(times.iter().all(|time| time % MILLISECOND == 0), "{clock}: {times:?}");
        assert!(shortest_step(&times) >= MILLISECOND, "{clock}: {times:?}");
        assert_eq!(found["ok"][format!("{clock}-resolution")], MILLISECOND);
    }
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap();
    assert!(now - times(&found, "wall")[0] < 60_000 * MILLISECOND, "it must be the system's time");
}

#[tokio::test]
async fn a_policy_can_make_a_clock_finer() {
    let site = site().await;
    let host = open(&site, FINE).await;
    let found = take(&host, looks(LOOKS)).await.remove(0);
    for clock in ["monotonic", "wall"] {
        let times = times(&found, clock);
        assert!(shortest_step(&times) < MILLISECOND, "{clock}: {times:?}");
        assert_eq!(found["ok"][format!("{clock}-resolution")], 1);
    }
}

#[tokio::test]
async fn a_guest_sees_only_an_injected_clock() {
    let site = site().await;
    let wall = Duration::new(1_000_000_000, 123_456_789);
    for (grants, coarse) in [("", true), (FINE, false)] {
        let time = Injected { wall, monotonic: AtomicU64::new(700_000), step: 400_000 };
        let host = builder(&site, grants).time_source(Arc::new(time)).open().await.unwrap();
        let found = take(&host, looks(5)).await.remove(0);
        let (monotonic, wall) = match coarse {
            true => (vec![0, MILLISECOND, 2 * MILLISECOND], 1_000_000_000_123_000_000),
            false => (vec![700_000, 1_100_000, 1_500_000, 1_900_000, 2_300_000], 1_000_000_000_123_456_789),
        };
        assert_eq!(times(&found, "monotonic"), monotonic);
        assert_eq!(times(&found, "wall"), [wall]);
    }
}

#[tokio::test]
async fn a_guest_sleeps_for_the_requested_time_without_spinning() {
    let site = site().await;
    for grants in ["", FINE] {
        let host = open(&site, grants).await;
        let steps = json!([
            {"op": "sleep", "number": 20 * MILLISECOND},
            {"op": "wait-until", "number": 10 * MILLISECOND + 1},
            {"op": "wait-until", "number": 1},
        ]);
        let found = take(&host, steps).await;
        assert!(found[0]["ok"].as_u64().unwrap() >= 19 * MILLISECOND, "{found:?}");
        assert!(found[1]["ok"].as_u64().unwrap() <= 16, "{found:?}");
        assert!(found[2]["ok"].as_u64().unwrap() <= 16, "{found:?}");
    }
}

/// A guest sleeps in real time, although its own clock does not advance.
#[tokio::test]
async fn a_guest_wakes_up_under_a_stopped_clock() {
    let site = site().await;
    let time = Injected { wall: Duration::ZERO, monotonic: AtomicU64::new(0), step: 0 };
    let host = builder(&site, "").time_source(Arc::new(time)).open().await.unwrap();
    let found = take(&host, json!([{"op": "sleep", "number": 5 * MILLISECOND}])).await;
    assert_eq!(found[0]["ok"], 0);
}
