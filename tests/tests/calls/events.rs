//! Events: each call goes through its states in order and ends once, however many subscribers there are and however
//! slow they are.

use crate::calls::desk::{Desk, heard, until, word};
use portcullis::approvals::Scripted;
use portcullis::events::{CallState, EventKind};
use portcullis::{Answer, Cancellation, Outcome, Request};
use std::sync::Arc;
use std::time::Duration;

/// The states of one call without interruption.
async fn states(desk: &Desk, tool: &str, arguments: &str, answers: &[Answer]) -> Vec<&'static str> {
    let host = desk.builder().approver(Arc::new(Scripted::new(answers.iter().cloned()))).open().await.unwrap();
    let mut events = host.events();
    let reply = host.call(Request::new(tool, arguments).session("s")).await;
    let mut words = Vec::new();
    while let Some(event) = events.try_next() {
        assert_eq!((&*event.call, &*event.session, &*event.tool), (&*reply.id, "s", tool));
        words.push(word(&event));
    }
    assert_eq!(words.last().copied(), Some(reply.outcome().as_str()), "{}", reply.message);
    words
}

#[tokio::test]
async fn a_call_goes_through_its_states_and_ends_once() {
    let desk = Desk::new().with("failure-injection").with("trap-on-demand").with_loop().with_asked().with_denied();
    let cases: [(&str, &str, &[&str]); 9] = [
        ("good.run", "{}", &["pending", "running", "completed"]),
        ("failure-injection.run", "{}", &["pending", "running", "failed"]),
        ("trap-on-demand.run", r#"{"a":1}"#, &["pending", "running", "trapped"]),
        ("loop-in-execute.run", "{}", &["pending", "running", "limit"]),
        ("no.run", "{}", &["pending", "denied"]),
        ("good.run", "{", &["pending", "invalid"]),
        ("good.nothing", "{}", &["pending", "invalid"]),
        ("refused.run", "{}", &["pending", "refused"]),
        ("asked.run", "{}", &["pending", "waiting", "running", "completed"]),
    ];
    for (tool, arguments, expected) in cases {
        assert_eq!(states(&desk, tool, arguments, &[Answer::Yes]).await, expected, "{tool}");
    }
    let no = Answer::No { note: None };
    assert_eq!(states(&desk, "asked.run", "{}", &[no]).await, ["pending", "waiting", "denied"]);
}

/// A call that no one answers stays pending. Subscribers see that it waits, and not that it has ended.
#[tokio::test]
async fn a_call_that_stays_pending_is_reported_as_waiting() {
    let desk = Desk::new().with_asked();
    let host = desk.open().await;
    let mut events = host.events();
    let reply = host.call(Request::new("asked.run", "{}")).await;
    assert_eq!(reply.outcome(), Outcome::Pending, "{}", reply.message);
    assert_eq!(heard(&mut events), ["pending", "waiting"]);
}

/// A running call that asks is waiting, and then running again.
#[tokio::test]
async fn a_call_that_asks_while_running_waits_and_runs_again() {
    let desk = Desk::new().with_asks();
    let expected = ["pending", "waiting", "running", "waiting", "running", "completed"];
    let words = states(&desk, "asks.run", "{}", &[Answer::Yes, Answer::Yes]).await;
    assert_eq!(words, expected);
}

#[tokio::test]
async fn a_cancelled_call_ends_as_cancelled() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open().await;
    let mut events = host.events();
    let cancellation = Cancellation::new();
    let request = || Request::new("sleep-in-execute.run", "{}").cancellation(cancellation.clone());
    let cancel = async {
        let before = until(&mut events, |event| word(event) == "running").await;
        assert_eq!(before.iter().map(word).collect::<Vec<_>>(), ["pending"]);
        cancellation.cancel();
    };
    let (reply, ()) = tokio::join!(host.call(request()), cancel);
    assert_eq!(reply.outcome(), Outcome::Cancelled);
    assert_eq!(heard(&mut events), ["cancelled"]);
    // A call that is cancelled before it begins never runs.
    host.call(request()).await;
    assert_eq!(heard(&mut events), ["pending", "cancelled"]);
}

/// Dropping a call's future gives no reply. Subscribers still get the event, after the call is recorded.
#[tokio::test]
async fn a_dropped_call_ends_as_cancelled() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open().await;
    let mut events = host.events();
    tokio::select! {
        reply = host.call(Request::new("sleep-in-execute.run", "{}")) => panic!("it ended: {reply:?}"),
        _ = until(&mut events, |event| word(event) == "running") => {}
    }
    let end = events.try_next().unwrap();
    assert!(matches!(end.kind, EventKind::State(CallState::Ended(Outcome::Cancelled))));
    assert_eq!(Desk::kinds(&host, &end.call), ["decision", "outcome"]);
    assert!(events.try_next().is_none());
}

/// A slow subscriber finds the newest of 1,000 progress reports, and all states around them.
#[tokio::test]
async fn a_slow_subscriber_loses_old_progress_but_no_state() {
    let desk = Desk::new().with("progress-flood");
    let policy = portcullis_tests::allow_all("progress-reports = 1000\ntime = \"20 s\"");
    let host = desk.site.builder(&policy).open().await.unwrap();
    let mut events = host.events();
    for call in 0..3 {
        let request = Request::new("progress-flood.run", format!(r#"{{"call":{call}}}"#));
        assert_eq!(host.call(request).await.outcome(), Outcome::Completed);
    }
    let words = heard(&mut events);
    let states: Vec<&str> = words.iter().copied().filter(|word| *word != "progress").collect();
    assert_eq!(states, ["pending", "running", "completed"].repeat(3));
    let progress = words.len() - states.len();
    assert!((1..1000).contains(&progress), "{progress} of 3,000 reports are kept");
    assert_eq!(words.last(), Some(&"completed"));
    assert_eq!(words[words.len() - 2], "progress", "the newest report must be kept");
}

/// Every subscriber gets all events since it subscribed, in the same order. Dropping a subscriber has no effect on the
/// others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscribers_get_the_same_events_in_the_same_order() {
    let desk = Desk::new();
    let host = desk.open().await;
    let (mut one, mut two, gone) = (host.events(), host.events(), host.events());
    drop(gone);
    let mut tasks = tokio::task::JoinSet::new();
    for call in 0..40 {
        let (host, request) = (host.clone(), Request::new("good.run", format!(r#"{{"call":{call}}}"#)));
        tasks.spawn(async move { host.call(request).await });
    }
    tasks.join_all().await;
    let mut late = host.events();
    let all = |events: &mut portcullis::events::Events| {
        std::iter::from_fn(|| events.try_next()).map(|event| format!("{} {}", event.call, word(&event))).collect()
    };
    let (one, two): (Vec<String>, Vec<String>) = (all(&mut one), all(&mut two));
    assert_eq!(one.len(), 40 * 3);
    assert_eq!(one, two);
    assert!(late.try_next().is_none(), "a subscriber must not get earlier events");
}

#[tokio::test]
async fn events_end_with_the_host() {
    let desk = Desk::new();
    let host = desk.open().await;
    let mut events = host.events();
    host.call(Request::new("good.run", "{}")).await;
    drop(host);
    assert_eq!(heard(&mut events), ["pending", "running", "completed"]);
    let next = tokio::time::timeout(Duration::from_secs(20), events.next()).await;
    assert!(next.expect("it ends").is_none());
}
