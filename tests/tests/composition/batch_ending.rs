//! The calls of a batch end with it, and each within its own limits.

use crate::composition::batch::{batch, codes, facts};
use crate::composition::desk::{ALLOW, ASK_MARKS, Desk, EVERY_TOOL, inner_outcomes, policy, wanted};
use portcullis::events::{CallState, EventKind, Events};
use portcullis::{Batch, Cancellation, Code, Host, Steering, approver_fn};
use portcullis_tests::{GRACE, assert_verifies, eventually_async};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn sleeps() -> Value {
    wanted("sleep-in-execute.run", &json!({}))
}

fn good() -> Value {
    wanted("good.run", &json!({}))
}

/// Waits until a call of this tool is in this state.
async fn reaches(events: &mut Events, tool: &str, state: CallState) {
    loop {
        let event = events.next().await.unwrap();
        if &*event.tool == tool && matches!(&event.kind, EventKind::State(reached) if *reached == state) {
            return;
        }
    }
}

async fn sleeping(events: &mut Events) {
    reaches(events, "sleep-in-execute.run", CallState::Running).await;
}

async fn ended(host: &Host, number: usize) -> Vec<Value> {
    eventually_async("the calls are recorded", || (inner_outcomes(host).len() == number).then_some(())).await;
    assert_verifies(host);
    inner_outcomes(host).iter().map(|outcome| outcome["code"].clone()).collect()
}

#[tokio::test]
async fn cancelling_a_batch_ends_its_calls() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let (cancellation, mut events) = (Cancellation::new(), host.events());
    let cancel = async {
        reaches(&mut events, "good.run", CallState::Ended(portcullis::Outcome::Completed)).await;
        cancellation.cancel();
        Instant::now()
    };
    let nested = wanted("relay.run", &json!({ "calls": [sleeps()] }));
    let call = host.call(batch(&[sleeps(), good(), nested]).cancellation(cancellation.clone()));
    let (reply, cancelled) = tokio::join!(call, cancel);
    assert!(cancelled.elapsed() < GRACE + Duration::from_secs(2), "{:?}", cancelled.elapsed());
    assert_eq!(reply.code, Code::Cancelled, "{}", reply.message);
    assert_eq!(reply.message, "The call was cancelled. 1 of its 3 calls had completed.");
    let codes = ended(&host, inner_outcomes(&host).len()).await;
    assert_eq!(codes.iter().filter(|code| **code == "completed").count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| *code == "cancelled" || *code == "completed"), "{codes:?}");
}

#[tokio::test]
async fn dropping_a_batch_ends_and_records_its_calls() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let mut events = host.events();
    tokio::select! {
        reply = host.call(batch(&[sleeps(), sleeps()])) => panic!("{}", reply.message),
        () = sleeping(&mut events) => {}
    }
    assert_eq!(ended(&host, 2).await, ["cancelled", "cancelled"]);
    assert_eq!(host.calls_under_way(), 0);
    assert_eq!(codes(&host.call(batch(&[good()])).await), ["completed"]);
}

/// A call that waits for an approver ends, too, and its request is withdrawn.
#[tokio::test]
async fn cancelling_a_batch_withdraws_the_requests_of_its_calls() {
    let desk = Desk::new();
    let never = approver_fn(async |_| std::future::pending().await);
    let host = desk.builder(ASK_MARKS, EVERY_TOOL).approver(never).open().await.unwrap();
    let (cancellation, mut events) = (Cancellation::new(), host.events());
    let cancel = async {
        reaches(&mut events, "marks.run", CallState::Waiting).await;
        cancellation.cancel();
    };
    let call = host.call(batch(&[wanted("marks.run", &json!({}))]).cancellation(cancellation.clone()));
    assert_eq!(tokio::join!(call, cancel).0.code, Code::Cancelled);
    assert!(host.approvals().list().await.unwrap().questions.is_empty());
    assert!(desk.marks().is_empty());
}

/// Each call has the time limit that it has alone, and the others keep their results.
#[tokio::test]
async fn a_call_that_reaches_its_limit_ends_alone() {
    let desk = Desk::new().with("sleep-in-execute");
    let policy = policy(ALLOW, EVERY_TOOL).replace("time = \"20 s\"", "time = \"1 s\"");
    let host = desk.site.builder(&policy).open().await.unwrap();
    let reply = host.call(batch(&[sleeps(), good(), sleeps(), good()])).await;
    assert_eq!(codes(&reply), ["limit-time", "completed", "limit-time", "completed"]);
    assert_verifies(&host);
}

/// A message of the user skips the calls of a batch that have not started.
#[tokio::test]
async fn calls_that_have_not_started_are_superseded_with_their_batch() {
    let desk = Desk::new();
    let never = approver_fn(async |_| std::future::pending().await);
    let host = desk.builder(ASK_MARKS, EVERY_TOOL).approver(never).open().await.unwrap();
    let (steering, mut events) = (Steering::new(), host.events());
    let steer = async {
        let (mut waits, mut ended) = (false, false);
        while !(waits && ended) {
            let event = events.next().await.unwrap();
            waits |= &*event.tool == "marks.run" && matches!(&event.kind, EventKind::State(CallState::Waiting));
            ended |= &*event.tool == "good.run" && matches!(&event.kind, EventKind::State(CallState::Ended(_)));
        }
        steering.steer("do the other thing first");
    };
    let calls = [good(), wanted("marks.run", &json!({}))];
    let made = host.batch(Batch::new(vec![batch(&calls)]).steering(steering.clone()));
    let (replies, ()) = tokio::join!(made, steer);
    assert_eq!(codes(&replies[0]), ["completed", "superseded"]);
    assert!(desk.marks().is_empty());
}

/// While a batch waits for an approver, other calls of the session run.
#[tokio::test]
async fn a_batch_that_waits_keeps_no_slot_and_no_place_in_the_order() {
    let desk = Desk::new();
    let never = approver_fn(async |_| std::future::pending().await);
    let rules = format!("{ASK_MARKS}[[rule]]\ntool = \"writes.*\"\ndecision = \"allow\"\n");
    let manifest = portcullis_tests::Manifest::of("writes").tool(|tool| tool.hints = 16);
    desk.site.plugin("writes", &portcullis_tests::guest("good", &manifest));
    let host = desk.builder(&rules, EVERY_TOOL).calls(1).approver(never).open().await.unwrap();
    let mut events = host.events();
    let waiting = {
        let host = host.clone();
        tokio::spawn(async move { host.call(batch(&[wanted("marks.run", &json!({}))])).await })
    };
    reaches(&mut events, "marks.run", CallState::Waiting).await;
    // The tool is sequential: it would wait for a batch that kept its place.
    let other = host.call(batch(&[wanted("writes.run", &json!({}))]));
    let reply = tokio::time::timeout(Duration::from_secs(20), other).await.expect("it waits for the batch");
    assert_eq!(facts(&reply)[0]["outcome"], "completed", "{}", reply.message);
    waiting.abort();
}
