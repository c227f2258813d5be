//! Hosts whose clocks differ by minutes. Every time in the ledger is that of the database.

use super::fleet::Fleet;
use super::kills::checked;
use crate::approvals::child::{Child, Order, Reported};
use crate::approvals::desk::numbered;
use portcullis::approvals::Onward;
use portcullis::{Answer, open_approvals};
use portcullis_tests::{BlockOn, eventually};
use std::collections::BTreeMap;
use std::path::Path;

/// The library of Debian's package `libfaketime`, which changes what a process reads from the clock of the system.
const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// The clocks of the hosts, relative to that of the database.
const CLOCKS: [&str; 4] = ["-9m", "+0m", "+7m", "+61m"];

impl Fleet {
    /// Starts a host whose clock is wrong. Returns `None` on a machine without the library.
    fn start_with_clock(&self, host: usize, order: Order, about: &str, clock: &str) -> Option<Child> {
        let is_installed = Path::new(LIBRARY).exists();
        assert!(is_installed || std::env::var_os("CI").is_none(), "CI must have Debian's package faketime");
        let clock = [("LD_PRELOAD", LIBRARY), ("FAKETIME", clock), ("DONT_FAKE_MONOTONIC", "1")];
        is_installed.then(|| self.start_with(host, order, about, &clock))
    }
}

/// Asserts that each host wrote all of its log before the next one began, by their own clocks.
fn assert_clocks_differed(fleet: &Fleet) {
    let times = |host: usize| -> Vec<String> {
        fleet.record(host).iter().map(|entry| entry["time"].as_str().unwrap().to_owned()).collect()
    };
    for (behind, ahead) in (0..CLOCKS.len()).zip(1..CLOCKS.len()) {
        assert!(times(behind).last() < times(ahead).first(), "the clock of host {behind} is not behind");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_whose_clocks_differ_by_minutes_lose_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let mut children = Vec::new();
    for (host, clock) in CLOCKS.iter().enumerate() {
        let about = (host * 100).to_string();
        let Some(child) = fleet.start_with_clock(host, Order::Churn, &about, clock) else { return };
        children.push(child);
    }
    let mut reported = Reported::default();
    for child in &mut children {
        child.until("begun");
        while let Some(said) = child.says() {
            reported.hear(&said);
            if said == "done" {
                break;
            }
        }
    }
    drop(children);
    assert_clocks_differed(&fleet);
    // No lease ends and no approval expires by a wrong clock, so nothing was refused.
    assert_eq!((reported.done, reported.refused), (CLOCKS.len(), 0));
    checked(&fleet, &reported, CLOCKS.len(), 0).await;
}

/// The request of a host whose clock is an hour ahead is answered by one whose clock is right, and that of a host whose
/// clock is behind, too.
#[test]
fn a_request_expires_by_the_clock_of_the_database() {
    let Some(fleet) = Fleet::new() else { return };
    for (host, clock) in ["+61m", "-61m"].into_iter().enumerate() {
        let Some(mut child) = fleet.start_with_clock(host, Order::AskElsewhere, "1", clock) else { return };
        child.until("asked");
        let approvals = open_approvals(fleet.place(7)).block_on().unwrap();
        let question = approvals.list().block_on().unwrap().questions.pop().expect("it has not expired");
        assert!(question.waited_for, "its host is not taken for dead");
        assert_eq!(approvals.answer(&question.id, &Answer::Yes).block_on().unwrap(), Onward::There);
        assert_eq!(child.until("ended"), "completed");
    }
    assert_eq!(fleet.marks(), BTreeMap::from([(numbered(0), 2)]));
}

/// An approval that a host with a slow clock does not use in time cannot be used later.
#[test]
fn a_host_with_a_slow_clock_cannot_use_an_approval_that_has_expired() {
    let Some(fleet) = Fleet::new() else { return };
    let Some(mut child) = fleet.start_with_clock(1, Order::AskBriefly, "", "-61m") else { return };
    child.until("asked");
    child.stop();
    let approvals = fleet.approvals(2);
    let question = approvals.list().block_on().unwrap().questions.remove(0);
    // On a slow machine it may expire before its approval. Nothing runs either way.
    let _ = approvals.answer(&question.id, &Answer::Yes).block_on();
    eventually("the end of the approval", || fleet.has_passed(question.expires_at.as_millisecond()).then_some(()));
    child.go_on();
    assert_eq!(child.until("ended"), "approval-denied");
    assert!(fleet.marks().is_empty());
}
