//! What a crash leaves: half a line at the end, or a decision without an outcome.

use crate::record::desk::{Desk, lines, text};
use portcullis::audit::{Fault, Verified};
use portcullis::events::EventKind;
use portcullis::{Code, Request};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::sync::Arc;

fn append(desk: &Desk, bytes: &[u8]) {
    OpenOptions::new().append(true).open(desk.log()).unwrap().write_all(bytes).unwrap();
}

/// Returns the files that were set aside, by name.
fn set_aside(desk: &Desk) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(desk.site.state()).unwrap().map(|entry| entry.unwrap());
    let torn = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("audit.torn-"));
    torn.map(|entry| fs::read(entry.path()).unwrap()).collect()
}

/// Half a line behind the head is moved to another file, the audit log has an entry for that, and the next call works.
/// This applies to a host that starts after the crash and to one that was open during it.
#[tokio::test]
async fn half_a_line_is_set_aside() {
    for open_before in [false, true] {
        let desk = Desk::with_short_record().await;
        let count = lines(&desk.log()).len() as u64;
        let early = if open_before { Some(desk.open_good().await) } else { None };
        if let Some(host) = &early {
            assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
        }
        let count = count + if open_before { 2 } else { 0 };
        let half = lines(&desk.log())[0][..99].to_vec();
        append(&desk, &half);
        assert_eq!(desk.verify(), Verified { lines: count, fault: Some(Fault::Torn(count + 1)) });
        let host = match early {
            Some(host) => host,
            None => desk.open_good().await,
        };
        let reply = host.call(Request::new("good.run", "{}")).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        let entries = desk.entries();
        assert_eq!(entries.len() as u64, count + 3);
        let repair = &entries[usize::try_from(count).unwrap()].document;
        assert_eq!(text(&repair["kind"]), "repair");
        assert_eq!(repair["set_aside_bytes"], half.len());
        assert_eq!(set_aside(&desk), [half]);
    }
}

/// Every part of a line that a crash can leave is set aside.
#[tokio::test]
async fn every_part_of_a_line_is_set_aside() {
    let desk = Desk::with_short_record().await;
    let line = lines(&desk.log()).last().unwrap().clone();
    let host = desk.open_good().await;
    for length in (1..line.len()).step_by(41) {
        append(&desk, &line[..length]);
        assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed, "{length} bytes");
    }
    assert_eq!(desk.verify().fault, None);
    assert_eq!(set_aside(&desk).len(), (1..line.len()).step_by(41).count());
}

/// Makes a call and removes its outcome, as if the process was killed while the tool ran. Returns the ID of the call.
async fn killed_call(desk: &Desk) -> String {
    let host = desk.open_good().await;
    let before = fs::read(desk.head()).unwrap();
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::Completed);
    drop(host);
    let lines = lines(&desk.log());
    fs::write(desk.log(), lines[..lines.len() - 1].concat()).unwrap();
    fs::write(desk.head(), before).unwrap();
    assert_eq!(desk.verify(), Verified { lines: lines.len() as u64 - 1, fault: None });
    reply.id
}

fn outcomes(desk: &Desk, call: &str) -> Vec<String> {
    let entries = desk.entries().into_iter().map(|entry| entry.document);
    let outcomes = entries.filter(|line| line["kind"] == "outcome" && line["call"] == call);
    outcomes.map(|line| text(&line["outcome"])).collect()
}

/// The first process that opens the state directory records the outcome, and no later one does.
#[tokio::test]
async fn a_call_of_a_dead_process_is_recorded_as_lost_once() {
    let desk = Desk::with_short_record().await;
    let killed = [killed_call(&desk).await, killed_call(&desk).await];
    for _ in 0..3 {
        let host = desk.open_good().await;
        for call in &killed {
            assert_eq!(outcomes(&desk, call), ["lost"]);
        }
        assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
        assert_eq!(desk.verify().fault, None);
    }
    let lost = desk.entries().into_iter().map(|entry| entry.document).find(|line| line["outcome"] == "lost").unwrap();
    assert_eq!((text(&lost["code"]), text(&lost["tool"])), ("host-died".to_owned(), "good.run".to_owned()));
}

/// If several processes open the state directory at the same time, one of them records it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_call_is_recorded_once_by_hosts_that_open_concurrently() {
    let desk = Arc::new(Desk::with_short_record().await);
    for _ in 0..8 {
        let killed = killed_call(&desk).await;
        let open = || {
            let desk = Arc::clone(&desk);
            tokio::spawn(async move { drop(desk.open_good().await) })
        };
        for opening in [open(), open(), open()] {
            opening.await.unwrap();
        }
        assert_eq!(outcomes(&desk, &killed), ["lost"]);
    }
}

/// A running call is not lost, however often another process opens the state directory.
#[tokio::test]
async fn a_call_of_a_running_process_is_not_lost() {
    let desk = Desk::new();
    // Without the short time limit of the desk: opening two hosts takes longer on a busy machine.
    let host = desk.open_good().await;
    let mut events = host.events();
    let (one, other) = (host.call(Request::new("reports.run", r#"{"for":"ever"}"#)), async {
        while !matches!(events.next().await.unwrap().kind, EventKind::Progress(_)) {}
        for _ in 0..2 {
            let other = desk.open_good().await;
            assert_eq!(other.call(Request::new("good.run", "{}")).await.code, Code::Completed);
        }
    });
    let id = tokio::select! {
        reply = one => panic!("it ended: {reply:?}"),
        () = other => {
            let running = desk.entries().into_iter().find(|entry| text(&entry.document["tool"]) == "reports.run");
            text(&running.unwrap().document["call"])
        }
    };
    assert_eq!(outcomes(&desk, &id), ["cancelled"], "it was dropped, not lost");
}

/// A decision without an outcome does not prevent the recording of later calls.
#[tokio::test]
async fn a_decision_without_an_outcome_does_not_stop_the_host() {
    let desk = Desk::with_short_record().await;
    let early = desk.open_good().await;
    killed_call(&desk).await;
    assert_eq!(early.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    assert_eq!(desk.verify().fault, None);
}

/// A complete line behind the head that does not continue the chain does not come from a crash. No host appends to it.
#[tokio::test]
async fn a_foreign_line_behind_the_head_stops_the_host() {
    let desk = Desk::with_short_record().await;
    let first = lines(&desk.log())[0].clone();
    append(&desk, &first);
    let host = desk.open_good().await;
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::RecordUnavailable);
    assert!(set_aside(&desk).is_empty());
}
