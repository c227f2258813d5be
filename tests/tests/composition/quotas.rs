//! What a call shares with its inner calls of its quotas, and what comes back.

use crate::composition::desk::{
    ALLOW, Desk, EVERY_TOOL, answers, inner_outcomes, nested, relayed, relays, together, wanted,
};
use portcullis::events::{CallState, EventKind};
use portcullis::{Code, Request};
use serde_json::{Value, json};

/// Lets the calling tool create two files through all its calls.
const TWO_FILES: &str = "[plugin.relay.limits]\ncreated-entries = 2\n";

fn mark(number: usize) -> Value {
    wanted("marks.run", &json!({ "n": number }))
}

/// The quotas of the call above bound what all its inner calls write together.
#[tokio::test]
async fn inner_calls_share_the_quota_of_the_call_above() {
    let desk = Desk::new();
    let host = desk.open(&format!("{TWO_FILES}{ALLOW}"), EVERY_TOOL).await;
    let made = relayed(&host, &[mark(1), mark(2), mark(3)]).await;
    assert_eq!(desk.marks().len(), 2, "{made:?}");
    assert!(made[2].get("failed").is_some(), "{made:?}");
    // A file that exists takes nothing.
    assert_eq!(host.call(relays(&[mark(1), mark(2)])).await.code, Code::Completed);
    assert_eq!(desk.marks()["{\"n\":1}"], 2);
}

#[tokio::test]
async fn inner_calls_share_the_bytes_that_the_call_above_may_write() {
    let desk = Desk::new();
    // A mark has two bytes.
    let host = desk.open(&format!("[plugin.relay.limits]\nwritten = \"4 B\"\n{ALLOW}"), EVERY_TOOL).await;
    let made = relayed(&host, &[mark(1), mark(2), mark(3)]).await;
    assert_eq!(desk.marks().values().sum::<usize>(), 2, "{made:?}");
    assert!(made[2].get("failed").is_some(), "{made:?}");
}

/// A called tool passes on its share: it takes nothing away from its own calls, and they take from the call above.
#[tokio::test]
async fn calls_at_every_depth_share_the_quota_of_the_outermost_call() {
    let desk = Desk::new();
    let host = desk.open(&format!("{TWO_FILES}{ALLOW}"), EVERY_TOOL).await;
    let between = |marks: &[Value]| wanted("relay.run", &json!({ "calls": marks }));
    let made = relayed(&host, &[between(&[mark(1)]), mark(2), between(&[mark(3)]), mark(4)]).await;
    assert_eq!(desk.marks().keys().collect::<Vec<_>>(), ["{\"n\":1}", "{\"n\":2}"], "{made:?}");
    // Deeper, and with the quotas that every plugin has.
    let desk = Desk::new();
    let host = desk.open(ALLOW, EVERY_TOOL).await;
    let made = relayed(&host, &[nested(3, mark(1))]).await;
    assert_eq!(desk.marks().len(), 1, "{made:?}");
}

/// The tool of the first call still runs when the second one is granted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_made_together_get_equal_shares_of_the_quota() {
    let desk = Desk::new();
    let host = desk.open(&format!("{TWO_FILES}{ALLOW}"), EVERY_TOOL).await;
    let computes = wanted("relay.run", &json!({ "calls": [], "computes_ms": 1000 }));
    let made = answers(&host.call(together(&[computes, mark(1)])).await);
    assert_eq!(desk.marks().len(), 1, "{made:?}");
}

/// A tool of the host writes no files. It takes its share when it is granted, and returns it.
#[tokio::test]
async fn a_tool_of_the_host_takes_nothing_from_the_quota() {
    let desk = Desk::new();
    let host = desk.open(&format!("{TWO_FILES}{ALLOW}"), EVERY_TOOL).await;
    let unknown = wanted("output.read", &json!({ "reference": "0123456789abcdef0123456789abcdef" }));
    let explains = wanted("tools.explain", &json!({ "tool": "good.run", "arguments": {} }));
    let done = wanted("done.done", &json!({ "result": "" }));
    let made = relayed(&host, &[unknown.clone(), explains, done.clone(), mark(1), unknown, done, mark(2)]).await;
    assert_eq!(desk.marks().len(), 2, "{made:?}");
    let ran: Vec<_> = inner_outcomes(&host).iter().map(|outcome| outcome["tool"].clone()).collect();
    assert_eq!(ran.len(), 7, "{ran:?}");
}

/// The only run slot goes to another call when the tool makes its call, so the inner call is refused after its grant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inner_call_that_does_not_start_returns_its_share_of_the_quotas() {
    let desk = Desk::new().with("sleep-in-execute");
    let limits = "[plugin.marks.limits]\ntime = \"1 s\"\n[plugin.sleep-in-execute.limits]\ntime = \"3 s\"\n";
    let host = desk.builder(&format!("{limits}{TWO_FILES}{ALLOW}"), EVERY_TOOL).calls(1).open().await.unwrap();
    let mut events = host.events();
    let arguments = json!({ "calls": [mark(1), mark(2), mark(3)], "computes_ms": 1000 });
    let call = {
        let host = host.clone();
        tokio::spawn(async move { host.call(Request::new("relay.run", arguments.to_string())).await })
    };
    loop {
        let event = events.next().await.unwrap();
        if &*event.tool == "relay.run" && matches!(event.kind, EventKind::State(CallState::Running)) {
            break;
        }
    }
    // It waits while the tool computes, and so it is first when the slot is free.
    let other = host.call(Request::new("sleep-in-execute.run", "{}").session("other")).await;
    assert_eq!(other.code.as_str(), "limit-time", "{}", other.message);
    let made = answers(&call.await.unwrap());
    assert!(made[0]["unavailable"].as_str().is_some_and(|text| text.contains("Too many calls")), "{made:?}");
    assert_eq!(desk.marks().len(), 2, "{made:?}");
}
