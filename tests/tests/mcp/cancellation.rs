//! Cancellation: it stops the guest, the audit log records what the call had done, and the request gets no response.

use crate::mcp::wire::{Desk, ERAS, OPEN};
use serde_json::{Value, json};

#[test]
fn a_cancelled_call_ends_immediately_and_the_audit_log_says_what_it_did() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        let params = json!({ "name": "clerk__wait", "arguments": {}, "_meta": { "progressToken": 1 } });
        let id = wire.request("tools/call", params);
        wire.take_first(|message| message["method"] == "notifications/progress");
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        let (_, said) = wire.close();
        assert!(said.iter().all(|message| message["id"] != id), "a cancelled request has no answer: {said:?}");
        let calls = desk.calls();
        let last = calls.last().unwrap();
        assert_eq!(last["outcome"], "cancelled", "{last}");
        assert_eq!(last["tool"], "clerk.wait");
        assert!(last["files"].is_object(), "the entry lists the note that the call wrote: {last}");
    }
    assert_eq!(desk.notes(), ["waiting", "waiting"], "each call ran once");
}

#[test]
fn a_guest_that_only_computes_is_stopped_and_its_run_slot_is_free() {
    let desk = Desk::new("[limits]\ntime = \"600 s\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n");
    for era in ERAS {
        let mut wire = desk.client_with(era, &["--calls", "1"]);
        let id = wire.request("tools/call", json!({ "name": "loop-in-execute__run", "arguments": {} }));
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        // There is one run slot, and the first call would have kept it for ten minutes.
        assert_eq!(wire.call("clerk__echo", json!({ "text": "next" }))["content"][0]["text"], "next");
        let (_, said) = wire.close();
        assert!(said.iter().all(|message| message["id"] != id), "a cancelled request has no answer: {said:?}");
    }
    let calls = desk.calls();
    let stopped = calls.iter().filter(|outcome| outcome["tool"] == "loop-in-execute.run");
    let stopped: Vec<&Value> = stopped.map(|outcome| &outcome["outcome"]).collect();
    assert_eq!(stopped, ["cancelled", "cancelled"]);
}

#[test]
fn a_cancellation_that_races_with_the_end_of_a_call_never_runs_it_twice() {
    const ROUNDS: usize = 50;
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(ERAS[0]);
    for round in 0..ROUNDS {
        let id = wire.request("tools/call", json!({ "name": "clerk__note", "arguments": { "text": mark(round) } }));
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        wire.call("clerk__echo", json!({ "text": "next" }));
    }
    wire.close();
    // A call that is stopped may have written part of its line.
    let notes = desk.notes().concat();
    let written = |round: usize| notes.matches(&mark(round)).count();
    assert!((0..ROUNDS).all(|round| written(round) <= 1), "a note was written twice: {notes}");
    let calls = desk.calls();
    let calls: Vec<&Value> = calls.iter().filter(|call| call["tool"] == "clerk.note").collect();
    let done = calls.iter().filter(|call| call["outcome"] == "completed").count();
    assert!(done <= (0..ROUNDS).map(written).sum(), "the audit log records a call as done that wrote nothing");
    assert_eq!(calls.len(), ROUNDS, "each call must have one final audit entry");
}

/// Returns what a round writes. No round's text is part of another's.
fn mark(round: usize) -> String {
    format!("<{round}>")
}

#[test]
fn cancelling_an_unknown_request_does_nothing() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        for id in [json!(1), json!(999_999), json!("none"), Value::Null] {
            wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        }
        assert_eq!(wire.call("clerk__echo", json!({ "text": "hi" }))["content"][0]["text"], "hi");
        assert_eq!(wire.unasked(), Vec::<Value>::new(), "{era:?}");
    }
}
