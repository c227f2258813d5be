//! Inner calls end with the call above, however it ends.

use crate::composition::desk::{ALLOW, Desk, EVERY_TOOL, inner_outcomes, nested, policy, relays, wanted};
use portcullis::events::{CallState, EventKind, Events};
use portcullis::{Cancellation, Code, Host};
use portcullis_tests::{GRACE, assert_verifies, eventually_async};
use serde_json::json;
use std::time::{Duration, Instant};

fn sleeps() -> serde_json::Value {
    wanted("sleep-in-execute.run", &json!({}))
}

/// Waits until a call of a tool runs.
async fn runs(events: &mut Events, tool: &str) {
    loop {
        let event = events.next().await.unwrap();
        if &*event.tool == tool && matches!(event.kind, EventKind::State(CallState::Running)) {
            return;
        }
    }
}

#[tokio::test]
async fn cancelling_a_call_ends_its_inner_calls() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let (cancellation, mut events) = (Cancellation::new(), host.events());
    let cancel = async {
        runs(&mut events, "sleep-in-execute.run").await;
        cancellation.cancel();
        Instant::now()
    };
    let call = host.call(relays(&[nested(2, sleeps())]).cancellation(cancellation.clone()));
    let (reply, cancelled) = tokio::join!(call, cancel);
    assert!(cancelled.elapsed() < GRACE + Duration::from_secs(2), "{:?}", cancelled.elapsed());
    assert_eq!(reply.code, Code::Cancelled, "{}", reply.message);
    all_cancelled(&host, 3).await;
}

#[tokio::test]
async fn dropping_a_call_ends_its_inner_calls() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let mut events = host.events();
    tokio::select! {
        reply = host.call(relays(&[nested(1, sleeps())])) => panic!("{}", reply.message),
        () = runs(&mut events, "sleep-in-execute.run") => {}
    }
    all_cancelled(&host, 2).await;
    assert_eq!(host.calls_under_way(), 0);
}

#[tokio::test]
async fn a_call_that_reaches_its_time_limit_ends_its_inner_calls() {
    let desk = Desk::new().with("sleep-in-execute");
    let policy = policy(ALLOW, EVERY_TOOL).replace("time = \"20 s\"", "time = \"1 s\"");
    let host = desk.site.builder(&policy).open().await.unwrap();
    let began = Instant::now();
    let reply = host.call(relays(&[sleeps(), sleeps()])).await;
    assert_eq!(reply.code.as_str(), "limit-time", "{}", reply.message);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_verifies(&host);
}

async fn all_cancelled(host: &Host, number: usize) {
    eventually_async("the inner calls are recorded", || (inner_outcomes(host).len() == number).then_some(())).await;
    let codes: Vec<_> = inner_outcomes(host).iter().map(|outcome| outcome["code"].clone()).collect();
    assert!(codes.iter().all(|code| code == "cancelled"), "{codes:?}");
    assert_verifies(host);
}
