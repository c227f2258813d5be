//! Calls over pipes and the threads that run them. A call that computes holds up no other request, and calls that are
//! made together are all answered. The unit tests of `host/mcp/src/stdio/tool_calls.rs` show that they use two threads.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN, Wire};
use serde_json::{Value, json};

/// Lets a guest compute longer than every test waits.
fn patient() -> Desk {
    Desk::new(&format!("[limits]\ntime = \"600 s\"\n{OPEN}"))
}

/// Starts a call that computes without end. From here on, the session has begun in every era.
fn computing(wire: &mut Wire) -> i64 {
    assert_eq!(wire.call("clerk__echo", json!({ "text": "first" }))["content"][0]["text"], "first");
    wire.request("tools/call", json!({ "name": "loop-in-execute__run", "arguments": {} }))
}

fn cancel(wire: &mut Wire, id: i64) {
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
}

#[test]
fn a_guest_that_computes_holds_up_no_other_request() {
    let desk = patient();
    for era in ERAS {
        let mut wire = desk.client(era);
        computing(&mut wire);
        for round in 0..20 {
            if era == Era::Legacy {
                assert_eq!(wire.result("ping", json!({})), json!({}));
            }
            assert!(wire.result("tools/list", json!({}))["tools"].is_array());
            let text = round.to_string();
            assert_eq!(wire.call("clerk__echo", json!({ "text": text }))["content"][0]["text"], text);
        }
    }
}

#[test]
fn a_cancellation_reaches_a_lone_call_while_its_guest_computes() {
    let desk = patient();
    for era in ERAS {
        let mut wire = desk.client_with(era, &["--calls", "1"]);
        let id = computing(&mut wire);
        wire.result("tools/list", json!({}));
        cancel(&mut wire, id);
        // There is one run slot, and the call would have kept it for ten minutes.
        assert_eq!(wire.call("clerk__echo", json!({ "text": "next" }))["content"][0]["text"], "next");
        let (_, said) = wire.close();
        assert!(said.iter().all(|message| message["id"] != id), "a cancelled request has no answer: {said:?}");
    }
    assert_eq!(outcomes(&desk, "loop-in-execute.run"), ["cancelled", "cancelled"]);
}

#[test]
fn a_call_that_is_cancelled_before_it_begins_does_not_run() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        wire.call("clerk__echo", json!({ "text": "first" }));
        // In one write, so that both messages are read together.
        let params = wire.with_meta(json!({ "name": "clerk__add", "arguments": { "numbers": [1] } }));
        let call = json!({ "jsonrpc": "2.0", "id": "both", "method": "tools/call", "params": params });
        let cancelled =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "both" } });
        wire.raw(format!("{call}\n{cancelled}"));
        let (status, said) = wire.close();
        assert!(status.success() && said.is_empty(), "{era:?}: {said:?}");
    }
    // The tool is so short that it would be over before it could be stopped.
    assert_eq!(outcomes(&desk, "clerk.add"), ["cancelled", "cancelled"]);
}

fn outcomes(desk: &Desk, tool: &str) -> Vec<String> {
    let calls = desk.calls().into_iter().filter(|call| call["tool"] == tool);
    calls.map(|call| call["outcome"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Calls that are in flight at one time.
const TOGETHER: usize = 64;

/// Rounds of such calls.
const ROUNDS: usize = 10;

#[test]
fn calls_that_are_made_together_are_answered_once_each() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        wire.call("clerk__echo", json!({ "text": "first" }));
        for round in 0..ROUNDS {
            let line = |at: usize| {
                let arguments = json!({ "text": format!("{round}.{at}") });
                let params = wire.with_meta(json!({ "name": "clerk__echo", "arguments": arguments }));
                json!({ "jsonrpc": "2.0", "id": at, "method": "tools/call", "params": params }).to_string()
            };
            let lines: Vec<String> = (0..TOGETHER).map(line).collect();
            wire.raw(lines.join("\n"));
            for at in 0..TOGETHER {
                let answer = wire.answer(&json!(at));
                assert_eq!(answer["result"]["content"][0]["text"], format!("{round}.{at}"), "{answer}");
            }
        }
        assert_eq!(wire.unasked(), Vec::<Value>::new());
    }
}

/// Returns an object in an object and so on, this many levels in all.
fn nested(levels: usize) -> String {
    let (open, close) = (r#"{"a":"#.repeat(levels - 1), "}".repeat(levels - 1));
    format!("{open}{{}}{close}")
}

#[test]
fn arguments_that_parsers_read_differently_are_refused_with_the_same_error_in_every_era() {
    let desk = Desk::new(&format!("[limits]\narguments = \"2 KiB\"\n{OPEN}"));
    // The message and its parameters are two of the 64 levels.
    let message = [
        (
            r#"{"text":"a","text":"b"}"#.to_owned(),
            "the message is invalid: the key \"text\" appears twice in one object",
        ),
        (
            r#"{"text":[{"b":1,"\u0062":2}]}"#.to_owned(),
            "the message is invalid: the key \"b\" appears twice in one object",
        ),
        (
            r#"{"text":18446744073709551616}"#.to_owned(),
            "the message is invalid: the number 18446744073709551616 is too large to be represented exactly; pass it as a \
             string",
        ),
        (nested(63), "the message is invalid: nested deeper than 64 levels"),
    ];
    let tool = [
        (nested(62), "-"),
        (r#"{"text":9007199254740993}"#.to_owned(), "-"),
        (format!(r#"{{"text":"{}"}}"#, "x".repeat(2048)), "they are larger than 2048 bytes"),
    ];
    for era in ERAS {
        let mut wire = desk.client(era);
        wire.call("clerk__echo", json!({ "text": "first" }));
        let ask = |wire: &mut Wire, arguments: &str| {
            let params = wire.with_meta(json!({ "name": "clerk__echo", "arguments": "ARGUMENTS" })).to_string();
            let params = params.replace("\"ARGUMENTS\"", arguments);
            wire.raw(format!(r#"{{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{params}}}"#));
            wire.answer(&json!("call"))
        };
        for (arguments, why) in &message {
            let answer = ask(&mut wire, arguments);
            assert_eq!(answer["error"]["code"], -32600, "{era:?} {arguments}: {answer}");
            assert!(answer["error"]["message"].as_str().unwrap().starts_with(why), "{era:?} {arguments}: {answer}");
        }
        for (arguments, why) in &tool {
            let answer = ask(&mut wire, arguments);
            let result = &answer["result"];
            assert_eq!(result["isError"], true, "{era:?} {arguments}: {answer}");
            let code = if *why == "-" { "invalid-arguments" } else { "malformed-arguments" };
            assert_eq!(result["_meta"]["portcullis/code"], code, "{era:?} {arguments}: {answer}");
            assert!(*why == "-" || result["content"][0]["text"].as_str().unwrap().contains(why), "{answer}");
        }
        // A whole number is the same with a point.
        let answer = ask(&mut wire, r#"{"text":"a\u0062"}"#);
        assert_eq!(answer["result"]["content"][0]["text"], "ab");
        let sum = wire.result("tools/call", json!({ "name": "clerk__add", "arguments": { "numbers": [1.0, 2e0, 3] } }));
        assert_eq!(sum["structuredContent"], json!({ "count": 3, "sum": 6 }), "{sum}");
    }
}
