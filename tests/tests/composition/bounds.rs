//! What bounds inner calls: their number, the depth of the chain, the time and the quotas of the calls above.

use crate::composition::desk::{
    ALLOW, ASK_MARKS, Desk, EVERY_TOOL, answers, inner_outcomes, innermost, nested, policy, relayed, relays, together,
    wanted,
};
use portcullis::{Answer, Request, approver_fn};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn good(number: usize) -> Value {
    wanted("good.run", &json!({ "n": number }))
}

#[tokio::test]
async fn the_number_of_calls_is_bounded() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, r#"{ tools = ["good.*"], calls = 3 }"#).await;
    let calls: Vec<Value> = (0..5).map(good).collect();
    let made = relayed(&host, &calls).await;
    let ran: Vec<bool> = made.iter().map(|answer| answer.get("text").is_some()).collect();
    assert_eq!(ran, [true, true, true, false, false]);
    assert!(made[3]["denied"].as_str().unwrap().contains("has made all the calls"), "{}", made[3]);
    assert_eq!(inner_outcomes(&host).len(), 3);
    // Of calls made together, the first ones run.
    let made = answers(&host.call(together(&calls)).await);
    let ran: Vec<bool> = made.iter().map(|answer| answer.get("text").is_some()).collect();
    assert_eq!(ran, [true, true, true, false, false]);
    // The next call of the caller has its own number.
    assert!(relayed(&host, &[good(0)]).await[0].get("text").is_some());
}

/// A call that is refused counts too, so a tool cannot fill the audit log.
#[tokio::test]
async fn refused_calls_count_too() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, r#"{ tools = ["good.*"], calls = 3 }"#).await;
    let calls = json!({ "calls": [wanted("marks.run", &json!({}))], "times": 500 });
    host.call(Request::new("relay.run", calls.to_string())).await;
    assert_eq!(inner_outcomes(&host).len(), 3);
}

/// The calls of a called tool count for its caller, so a chain cannot multiply them.
#[tokio::test]
async fn calls_of_called_tools_count_for_their_callers() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, r#"{ tools = ["*.*"], calls = 4, depth = 2 }"#).await;
    let many: Vec<Value> = (0..4).map(good).collect();
    let inner = wanted("relay.run", &json!({ "calls": many }));
    let made = relayed(&host, &[inner, good(9)]).await;
    let below: Vec<bool> = made[0]["json"].as_array().unwrap().iter().map(|one| one.get("text").is_some()).collect();
    assert_eq!(below, [true, true, true, false]);
    assert!(made[1].get("denied").is_some(), "{}", made[1]);
}

#[tokio::test]
async fn the_depth_of_the_chain_is_bounded() {
    for (depth, levels, runs) in [(1, 0, true), (1, 1, false), (2, 1, true), (2, 2, false), (4, 3, true), (4, 4, false)]
    {
        let desk = Desk::new();
        let tools = format!("{{ tools = [\"*.*\"], calls = 100, depth = {depth} }}");
        let host = desk.open(ALLOW, &tools).await;
        let made = relayed(&host, &[nested(levels, good(1))]).await;
        let last = innermost(&made[0]);
        assert_eq!(last.get("text").is_some(), runs, "depth {depth}, {levels} levels: {made:?}");
        if !runs {
            assert!(last["denied"].as_str().unwrap().contains("the chain is too long"), "{last}");
        }
    }
}

/// Recursion ends, and leaves the host serving.
#[tokio::test]
async fn a_tool_that_calls_itself_ends_at_the_depth() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let made = relayed(&host, &[nested(12, good(1))]).await;
    assert!(made[0].get("json").is_some(), "{made:?}");
    assert_eq!(inner_outcomes(&host).len(), 4);
    assert!(relayed(&host, &[good(1)]).await[0].get("text").is_some());
}

/// With one run slot, a chain of calls gives it down and takes it back.
#[tokio::test]
async fn a_chain_of_calls_runs_with_one_run_slot() {
    let desk = Desk::new();
    let host = desk.builder(ALLOW, EVERY_TOOL).calls(1).open().await.unwrap();
    let chains = (0..8).map(|number| {
        let host = host.clone();
        tokio::spawn(async move { relayed(&host, &[nested(2, good(number))]).await })
    });
    for chain in chains.collect::<Vec<_>>() {
        let made = tokio::time::timeout(Duration::from_secs(20), chain).await.expect("the chains wait for one another");
        let made = made.unwrap();
        // More chains than can be suspended at once are told to try again, and none waits without end.
        let last = innermost(&made[0]);
        assert!(last.get("text").is_some() || last.get("unavailable").is_some(), "{made:?}");
    }
    let alone = relayed(&host, &[nested(2, good(1))]).await;
    assert!(innermost(&alone[0]).get("text").is_some(), "{alone:?}");
}

#[tokio::test]
async fn calls_made_together_are_answered_in_order_and_run_at_the_same_time() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let calls: Vec<Value> = (0..10).map(good).collect();
    let made = answers(&host.call(together(&calls)).await);
    let expected: Vec<Value> = (0..10).map(|number| json!({ "text": json!({ "n": number }).to_string() })).collect();
    assert_eq!(made, expected);
    // Two tools that compute 600 ms each take less than both one after the other.
    let slow = wanted("relay.run", &json!({ "calls": [], "computes_ms": 600 }));
    let reply = host.call(together(&[slow.clone(), slow.clone()])).await;
    let at_once = reply.usage.run.wall;
    let reply = host.call(relays(&[slow.clone(), slow])).await;
    assert!(at_once < reply.usage.run.wall, "{at_once:?} {:?}", reply.usage.run.wall);
}

#[tokio::test]
async fn more_calls_than_a_batch_has_are_refused_at_once() {
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let calls: Vec<Value> = (0..26).map(good).collect();
    let made = answers(&host.call(together(&calls)).await);
    assert!(made.iter().all(|answer| answer.get("invalid").is_some()), "{made:?}");
    assert_eq!((made.len(), inner_outcomes(&host).len()), (26, 0));
}

/// The time of a called tool counts for its caller: two calls of two seconds do not fit into three.
#[tokio::test]
async fn the_time_of_inner_calls_counts_for_the_call_above() {
    let desk = Desk::new();
    let policy = policy(ALLOW, EVERY_TOOL).replace("time = \"20 s\"", "time = \"3 s\"");
    let host = desk.site.builder(&policy).open().await.unwrap();
    let slow = wanted("relay.run", &json!({ "calls": [], "computes_ms": 2000 }));
    let began = Instant::now();
    let reply = host.call(relays(&[slow.clone(), slow])).await;
    let second = inner_outcomes(&host).pop().unwrap();
    assert_eq!(second["code"], "limit-time", "the second call gets what is left: {second}");
    assert_eq!(reply.code.as_str(), "limit-time", "{}", reply.message);
    assert!(began.elapsed() < Duration::from_secs(10));
}

/// A called tool waits for an approver, and so spends none of its own time. Meanwhile another one uses up the time of
/// the call above both. The call that the first one then makes gets only the rest of that time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_of_all_calls_above_bounds_an_inner_call() {
    let desk = Desk::new();
    let slow = approver_fn(async |_| {
        tokio::time::sleep(Duration::from_millis(2700)).await;
        Answer::Yes
    });
    let policy = policy(ASK_MARKS, EVERY_TOOL).replace("time = \"20 s\"", "time = \"3 s\"");
    let host = desk.site.builder(&policy).approver(slow).open().await.unwrap();
    let computes = |ms: u64| wanted("relay.run", &json!({ "calls": [], "computes_ms": ms }));
    let waits = wanted("relay.run", &json!({ "calls": [wanted("marks.run", &json!({})), computes(2000)] }));
    host.call(together(&[computes(2500), waits])).await;
    let outcomes = inner_outcomes(&host);
    let last = outcomes.iter().find(|call| call["tool"] == "relay.run" && call["principal"] == "local/relay/relay");
    assert_eq!(last.map(|call| &call["code"]), Some(&json!("limit-time")), "{outcomes:?}");
}

/// The answers are charged to the host memory of the call.
#[tokio::test]
async fn answers_that_are_too_large_together_are_replaced() {
    let desk = Desk::new();
    let limits = "[plugin.relay.limits]\nhost-memory = \"300 KiB\"\noutput = \"2 MiB\"\n";
    let host = desk.open(&format!("{limits}{ALLOW}"), EVERY_TOOL).await;
    let large = wanted("good.run", &json!({ "text": "a".repeat(100_000) }));
    let made = answers(&host.call(together(&[large.clone(), large.clone(), large.clone(), large])).await);
    let (held, replaced): (Vec<_>, Vec<_>) = made.iter().partition(|answer| answer.get("text").is_some());
    assert!(!held.is_empty() && !replaced.is_empty(), "{} {}", held.len(), replaced.len());
    assert!(replaced[0]["failed"].as_str().unwrap().contains("too large"), "{replaced:?}");
}
