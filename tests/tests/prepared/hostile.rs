//! A plugin that answers wrongly, or not at all, offers nothing. It costs the host a bounded time and memory.

use crate::prepared::desk::{Desk, erase, names, note, offered, reason};
use portcullis::{Batch, Cancellation, Code, Request, Steering};
use portcullis_tests::resident;

/// Maximum growth of resident memory for the answers that the host keeps, in bytes. Measured: 4 MiB, for 2 MiB of
/// schemas, each parsed and compiled. The answers for all of the callers would take seven times as much.
const KEPT_BYTES_MAX: u64 = 12 << 20;

#[tokio::test]
async fn a_faulty_answer_hides_every_tool_with_a_reason() {
    let cases = [
        ("trap", "it trapped: "),
        ("loop", "the limit on time was reached"),
        ("too-much", "the limit on "),
        ("unknown", "it has no tool no\\nsuch"),
        ("twice", "it named the tool erase twice"),
        ("schema", "the schema of note is refused: "),
        ("deceptive", "contains the invisible or control character U+202E"),
    ];
    let desk = Desk::new();
    for (mode, why) in cases {
        let host = desk.open(mode).await;
        let offered = offered(&host, "s").await;
        assert!(names(&host, &offered).is_empty(), "{mode}");
        let reason = reason(&host, &offered, "note").unwrap();
        assert!(reason.starts_with("it could not say what it offers: ") && reason.contains(why), "{mode}: {reason}");
        assert!(!reason.contains(['\n', '\u{1b}']), "{mode}: {reason}");
        for request in [note("short"), erase()] {
            assert_eq!(host.call(request.session("s")).await.code, Code::UnknownTool, "{mode}");
        }
    }
}

/// A call that waits for the preparer would end with its failure, and so as a call of an unknown tool.
#[tokio::test]
async fn an_unwanted_call_does_not_wait_for_a_preparer() {
    let desk = Desk::new();
    let host = desk.open("loop").await;
    let cancelled = async |request: Request| {
        let cancellation = Cancellation::new();
        cancellation.cancel();
        host.call(request.session("s").cancellation(cancellation)).await.code
    };
    assert_eq!(cancelled(note("short")).await, Code::Cancelled);
    assert_eq!(cancelled(Request::new("prepared.none", "{}")).await, Code::Cancelled);
    let steering = Steering::new();
    steering.steer("Stop.");
    let replies = host.batch(Batch::new(vec![note("short").session("s")]).steering(steering)).await;
    assert_eq!(replies[0].code, Code::Superseded);
    // An unwanted call leaves no answer behind: the next one asks the plugin again.
    assert_eq!(host.call(note("short").session("s")).await.code, Code::UnknownTool);
}

#[tokio::test]
async fn an_answer_is_kept_for_its_caller() {
    let desk = Desk::new();
    let host = desk.open("loop").await;
    let began = std::time::Instant::now();
    offered(&host, "s").await;
    let first = began.elapsed();
    let again = std::time::Instant::now();
    for _ in 0..20 {
        offered(&host, "s").await;
    }
    // A preparer that loops is stopped after two seconds. Twenty of them would take forty.
    assert!(again.elapsed() < first, "{:?} after {first:?}", again.elapsed());
}

#[tokio::test]
async fn the_answers_that_a_host_keeps_are_bounded_in_memory() {
    let desk = Desk::new();
    let host = desk.open("much").await;
    for session in 0..32 {
        offered(&host, &format!("first-{session}")).await;
    }
    let before = resident();
    for session in 0..200 {
        let offered = offered(&host, &format!("later-{session}")).await;
        assert_eq!(names(&host, &offered), ["erase", "note"]);
    }
    let grown = resident().saturating_sub(before);
    println!("200 more callers: {} KiB", grown / 1024);
    assert!(grown < KEPT_BYTES_MAX, "{grown} bytes");
}
