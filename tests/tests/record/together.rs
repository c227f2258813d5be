//! Several hosts with one state directory, concurrently.

use crate::record::desk::{Desk, entries, text};
use portcullis::{Code, Host, Request, open_audit};
use portcullis_tests::{BlockOn, Site, allow_all};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Arc, Barrier};
use std::thread;

/// Calls that each thread makes.
const CALLS: usize = 50;

fn alone<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn call_many(host: &Host) {
    for _ in 0..CALLS {
        let reply = host.call(Request::new("good.run", "{}")).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    }
}

/// Two hosts in two threads: no line is lost or torn, and there is one chain.
#[test]
fn two_hosts_write_one_audit_log() {
    let desk = alone(Desk::with_short_record());
    let before = desk.entries().len();
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                alone(async {
                    let host = desk.open_good().await;
                    barrier.wait();
                    call_many(&host).await;
                });
            });
        }
    });
    let entries = desk.entries();
    assert_eq!(entries.len() - before, 2 * 2 * CALLS);
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (place, entry) in (1..).zip(&entries) {
        assert_eq!((entry.sequence, &entry.document["seq"]), (place, &serde_json::json!(place)));
        calls.entry(text(&entry.document["call"])).or_default().push(text(&entry.document["kind"]));
    }
    let whole = calls.values().filter(|kinds| **kinds == ["decision", "outcome"]).count();
    assert!(whole >= 2 * CALLS, "every call must have a decision and then an outcome");
}

/// The same for many concurrent calls of one host, which may move between threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_calls_write_one_audit_log() {
    let desk = Desk::with_short_record().await;
    let host = desk.open_good().await;
    let before = desk.entries().len();
    let start = |host: Host| tokio::spawn(async move { call_many(&host).await });
    for task in [(); 4].map(|()| start(host.clone())) {
        task.await.unwrap();
    }
    assert_eq!(desk.entries().len() - before, 4 * 2 * CALLS);
}

/// Threads that create a state directory concurrently agree on its key. Otherwise they could not read each other's log.
#[test]
fn a_state_directory_is_created_once() {
    const THREADS: usize = 8;
    for round in 0..20 {
        let site = Arc::new(Site::new());
        let barrier = Arc::new(Barrier::new(THREADS));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (site, barrier) = (Arc::clone(&site), Arc::clone(&barrier));
                thread::spawn(move || {
                    barrier.wait();
                    open_audit(&site.state()).block_on().map(drop)
                })
            })
            .collect();
        for thread in threads {
            let opened = thread.join().unwrap();
            assert!(opened.is_ok(), "round {round}: {:?}", opened.err());
        }
    }
}

/// Hosts that create a state directory concurrently write one audit log, and accept each other's cache entries.
#[test]
fn hosts_that_start_together_write_one_audit_log() {
    let site = Site::new();
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                barrier.wait();
                alone(async {
                    let host = site.open(&allow_all("")).await;
                    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
                });
            });
        }
    });
    let entries = entries(&site.state());
    let events: Vec<_> = entries.iter().filter(|entry| entry.document["kind"] == "plugin").collect();
    assert!(events.is_empty(), "{events:?}");
    assert_eq!(entries.len(), 4);
}

/// No entry of another call can come between a denial and its outcome, because both are one write.
#[tokio::test]
async fn a_denial_and_its_outcome_are_written_together() {
    let desk = Desk::new();
    let host = desk.open().await;
    let before = desk.entries().len();
    let _beside = open_audit(&desk.site.state()).block_on().unwrap();
    let held = File::open(desk.head()).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let denied = || host.call(Request::new("no.run", "{}"));
    // While another process holds the lock, the entries of all three calls wait in the order of the calls' steps.
    let unlock = async { flock(&held, FlockOperation::Unlock).unwrap() };
    let (first, second, third, ()) = tokio::join!(biased; denied(), denied(), denied(), unlock);
    assert_eq!([first, second, third].map(|reply| reply.code), [Code::PolicyDenied; 3]);
    let entries = desk.entries();
    let pairs: Vec<_> = entries[before..].chunks(2).collect();
    assert_eq!(pairs.len(), 3);
    for pair in pairs {
        let [decision, outcome] = pair else { panic!("a pair") };
        assert_eq!((&decision.document["kind"], &outcome.document["kind"]), (&"decision".into(), &"outcome".into()));
        assert_eq!(decision.document["call"], outcome.document["call"]);
    }
}
