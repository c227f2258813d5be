//! Another process can lock the audit log for any time. Only calls wait for it.

use crate::record::desk::{Desk, kinds};
use portcullis::events::{CallState, EventKind};
use portcullis::{AuditReader, Code, Host, Outcome, Reply, Request, open_audit};
use portcullis_tests::{BlockOn, Manifest, Site, allow_all, assert_verifies, guest};
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// After this time the lock is released, so that a blocked worker fails the test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Calls that wait for the lock concurrently.
const CALLS: usize = 20;

/// A lock on the audit log, as another process holds it. That process also has the log open. Otherwise the host would
/// have the log for itself, and need no lock.
struct HeldLog {
    release: Sender<()>,
    thread: JoinHandle<()>,
    ran_out: Arc<AtomicBool>,
}

impl HeldLog {
    fn take(desk: &Desk) -> Self {
        let opened = open_audit(&desk.site.state()).block_on().unwrap();
        let head = OpenOptions::new().read(true).open(desk.head()).unwrap();
        flock(&head, FlockOperation::LockExclusive).unwrap();
        let (release, released) = channel();
        let ran_out = Arc::new(AtomicBool::new(false));
        let noted = Arc::clone(&ran_out);
        let thread = std::thread::spawn(move || hold((head, opened), &released, &noted));
        Self { release, thread, ran_out }
    }

    /// Releases the lock. Panics if a blocked worker delayed the release until the timeout.
    fn release(self) {
        let _ = self.release.send(());
        self.thread.join().unwrap();
        assert!(!self.ran_out.load(Ordering::SeqCst), "a worker was blocked until the lock timed out");
    }
}

fn hold(held: (File, AuditReader), released: &Receiver<()>, ran_out: &AtomicBool) {
    ran_out.store(released.recv_timeout(PATIENCE).is_err(), Ordering::SeqCst);
    drop(held);
}

fn policy(durable: &str) -> String {
    format!("[record]\ndurable = \"{durable}\"\n{}", allow_all(""))
}

async fn run(host: Host) -> Reply {
    host.call(Request::new("good.run", "{}")).await
}

/// The runtime of this test has one worker: while it is blocked, no other task of the test runs.
#[tokio::test]
async fn a_process_that_locks_the_log_blocks_no_worker() {
    for durable in ["process", "machine"] {
        let desk = Desk { site: Site::new() };
        desk.site.plugin("good", &guest("good", &Manifest::of("good")));
        let host = desk.site.open(&policy(durable)).await;
        assert_eq!(run(host.clone()).await.code, Code::Completed, "{durable}");

        let held = HeldLog::take(&desk);
        let calls: Vec<_> = (0..CALLS).map(|_| tokio::spawn(run(host.clone()))).collect();
        for _ in 0..CALLS {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(calls.iter().all(|call| !call.is_finished()), "{durable}: a call ran with no decision in the log");
        held.release();

        for call in calls {
            let reply = call.await.unwrap();
            assert_eq!(reply.code, Code::Completed, "{durable}: {}", reply.message);
            assert_eq!(kinds(&desk.entries(), &reply.id), ["decision", "outcome"], "{durable}");
        }
        assert_verifies(&host);
    }
}

/// The outcome of a dropped call follows its decision, although no one waits for either.
#[tokio::test]
async fn a_call_that_is_dropped_while_the_log_is_locked_leaves_both_entries_in_order() {
    let desk = Desk { site: Site::new() };
    desk.site.plugin("good", &guest("good", &Manifest::of("good")));
    let host = desk.open_good().await;
    let held = HeldLog::take(&desk);
    let call = tokio::spawn(run(host.clone()));
    tokio::time::sleep(Duration::from_millis(10)).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    held.release();

    // Its entries follow those of the dropped call.
    let after = run(host).await;
    let entries = desk.entries();
    let dropped: Vec<_> = entries.iter().take_while(|entry| entry.document["call"] != *after.id).collect();
    let kinds: Vec<_> = dropped.iter().map(|entry| entry.document["kind"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds, ["decision", "outcome"]);
    assert_eq!(dropped[1].document["outcome"], "cancelled");
}

/// For subscribers, a call that is dropped while its outcome waits for the log has ended.
#[tokio::test]
async fn a_call_that_is_dropped_while_its_outcome_waits_has_ended_for_subscribers() {
    let desk = Desk { site: Site::new() };
    desk.site.plugin("good", &guest("good", &Manifest::of("good")));
    let host = desk.open_good().await;
    let mut events = host.events();
    let held = HeldLog::take(&desk);
    let calling = host.clone();
    // A call of an unknown tool has no decision, so the first entry that it waits for is its outcome.
    let call = tokio::spawn(async move { calling.call(Request::new("good.none", "{}")).await });
    tokio::time::sleep(Duration::from_millis(10)).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    held.release();
    let mut states = Vec::new();
    while let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(500), events.next()).await {
        let EventKind::State(state) = event.kind else { panic!("{event:?}") };
        states.push(state);
    }
    assert!(matches!(states[..], [CallState::Pending, CallState::Ended(Outcome::Invalid)]), "{states:?}");
}

/// A slow reader of the log does not delay calls, and does not see what they append.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_reader_of_the_log_delays_no_call() {
    let desk = Desk::with_short_record().await;
    let host = desk.open_good().await;
    let before = desk.entries().len();
    let runtime = tokio::runtime::Handle::current();
    let mut seen = 0;
    let read = host
        .audit()
        .read(|_| {
            seen += 1;
            let (done, ended) = channel();
            let call = run(host.clone());
            runtime.spawn(async move { done.send(call.await.code) });
            let code = ended.recv_timeout(PATIENCE).map_err(io::Error::other)?;
            assert_eq!(code, Code::Completed);
            Ok(())
        })
        .await;
    assert_eq!(read.unwrap().fault, None);
    assert_eq!(seen, before);
    assert_verifies(&host);
}
