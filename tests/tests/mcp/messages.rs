//! Messages that are none, that come in the wrong order, or that two readers would read differently. Whatever comes, no
//! tool runs twice, and none runs that was not asked for by a request.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN};
use serde_json::{Value, json};

/// A call of the clerk that leaves a note, as a message.
fn note(id: &Value, text: &str) -> Value {
    let params = json!({ "name": "clerk__note", "arguments": { "text": text } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn what_is_no_request_runs_nothing() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    let call = note(&json!(900), "no");
    let without = |key: &str| {
        let mut call = call.clone();
        call.as_object_mut().unwrap().remove(key);
        call.to_string()
    };
    let with = |key: &str, value: Value| {
        let mut call = call.clone();
        call[key] = value;
        call.to_string()
    };
    let refused = [
        (json!([call]).to_string(), -32600),
        (without("jsonrpc"), -32600),
        (with("jsonrpc", json!("1.0")), -32600),
        (with("id", Value::Null), -32600),
        (with("id", json!(1.5)), -32600),
        (with("id", json!(true)), -32600),
        (with("id", json!([1])), -32600),
        (with("id", json!("x".repeat(1000))), -32600),
        (call.to_string().replace("\"text\":\"no\"", "\"text\":\"no\",\"text\":\"no\""), -32600),
        (call.to_string().replace("\"text\":\"no\"", "\"te\\u0078t\":\"a\",\"text\":\"no\""), -32600),
        (call.to_string().replace("\"no\"", "18446744073709551616"), -32600),
        (call.to_string().replace("\"no\"", &"[".repeat(1000)), -32700),
        (format!("\u{feff}{call}"), -32700),
        (format!("{call} {call}"), -32700),
        (call.to_string().replace('}', ""), -32700),
    ];
    for (line, code) in refused {
        wire.raw(&line);
        let answer = wire.take_first(|message| message.get("error").is_some());
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    wire.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    let answer = wire.take_first(|message| message.get("error").is_some());
    assert_eq!(answer["error"]["code"], -32700);
    // A notification wants no answer, and does nothing.
    for line in [without("id"), String::new(), with("method", json!(7)).replace("\"id\":900,", "")] {
        wire.raw(line);
    }
    assert_eq!(wire.unasked(), Vec::<Value>::new());
    assert_eq!(desk.notes(), Vec::<String>::new());
}

#[test]
fn a_call_of_another_form_is_wrong_and_not_unknown() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        let forms = [
            json!({ "name": "clerk__note", "arguments": ["no"] }),
            json!({ "name": "clerk__note", "arguments": "{\"text\":\"no\"}" }),
            json!({ "name": 7 }),
            json!({ "arguments": { "text": "no" } }),
            json!({ "name": "no__such", "arguments": {} }),
            json!({ "name": "", "arguments": {} }),
        ];
        for form in forms {
            assert_eq!(wire.error("tools/call", form.clone()), -32602, "{form} {era:?}");
        }
    }
    assert_eq!(desk.notes(), Vec::<String>::new());
}

#[test]
fn a_line_beyond_all_bounds_is_skipped_and_the_next_is_read() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    wire.raw("x".repeat(17 * 1024 * 1024));
    let answer = wire.take_first(|message| message.get("error").is_some());
    assert_eq!(answer["error"]["code"], -32600);
    assert_eq!(wire.call("clerk__echo", json!({ "text": "still here" }))["content"][0]["text"], "still here");
}

#[test]
fn two_running_requests_never_share_an_id() {
    let desk = Desk::new(OPEN);
    for (number, id) in [json!(900), json!("900")].iter().enumerate() {
        let mut wire = desk.client(Era::Legacy);
        wire.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "clerk__wait", "arguments": {}, "_meta": { "progressToken": "waits" } },
        }));
        // It runs for certain once it has reported.
        wire.take_first(|message| message["method"] == "notifications/progress");
        wire.send(&note(id, "no"));
        let answer = wire.answer(id);
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(desk.notes(), vec!["waiting"; number + 1]);
    }
}

#[test]
fn an_id_that_is_free_again_can_be_used_again() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    for text in ["one", "two"] {
        wire.send(&note(&json!("again"), text));
        assert!(wire.answer(&json!("again")).get("result").is_some());
    }
    assert_eq!(desk.notes(), ["one", "two"]);
}

#[test]
fn before_the_handshake_nothing_runs_and_the_handshake_is_still_possible() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.stranger(Era::Legacy, &[]);
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    wire.send(&json!({ "jsonrpc": "2.0", "id": 3, "result": {} }));
    wire.send(&note(&json!("early"), "no"));
    assert_eq!(wire.answer(&json!("early"))["error"]["code"], -32602);
    wire.send(&json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" }));
    assert_eq!(wire.answer(&json!("ping"))["result"], json!({}));
    wire.shake_hands("2025-11-25");
    assert_eq!(desk.notes(), Vec::<String>::new());
    assert_eq!(wire.call("clerk__note", json!({ "text": "yes" }))["isError"], false);
    assert_eq!(desk.notes(), ["yes"]);
}

#[test]
fn a_probe_leaves_both_ways_open() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.stranger(Era::Modern, &[]);
        let found = wire.result("server/discover", json!({}));
        assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
        if era == Era::Legacy {
            wire.shake_hands("2025-06-18");
            wire.send(&note(&json!("after"), "legacy"));
            assert!(wire.answer(&json!("after")).get("result").is_some());
        } else {
            assert_eq!(wire.call("clerk__echo", json!({ "text": "modern" }))["content"][0]["text"], "modern");
        }
    }
}
