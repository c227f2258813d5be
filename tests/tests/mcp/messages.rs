//! Invalid messages, messages in the wrong order, and messages that parsers read differently. No tool runs twice, and
//! none runs without a request for it.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN, Wire};
use serde_json::{Value, json};

/// Builds a call of the clerk that writes a note.
fn note(id: &Value, text: &str) -> Value {
    let params = json!({ "name": "clerk__note", "arguments": { "text": text } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn a_message_that_is_not_a_request_runs_nothing() {
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
    // A notification gets no response and has no effect.
    for line in [without("id"), String::new(), with("method", json!(7)).replace("\"id\":900,", "")] {
        wire.raw(line);
    }
    assert_eq!(wire.unasked(), Vec::<Value>::new());
    assert_eq!(desk.notes(), Vec::<String>::new());
}

#[test]
fn a_malformed_call_is_invalid_and_not_an_unknown_method() {
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
fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
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
        // The call is certainly running once it has reported progress.
        wire.take_first(|message| message["method"] == "notifications/progress");
        wire.send(&note(id, "no"));
        let answer = wire.answer(id);
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(desk.notes(), vec!["waiting"; number + 1]);
    }
}

#[test]
fn the_id_of_a_finished_request_can_be_reused() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    for text in ["one", "two"] {
        wire.send(&note(&json!("again"), text));
        assert!(wire.answer(&json!("again")).get("result").is_some());
    }
    assert_eq!(desk.notes(), ["one", "two"]);
}

#[test]
fn nothing_runs_before_the_handshake_and_the_handshake_is_still_possible() {
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
fn a_probe_does_not_decide_the_era() {
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

/// The maximum requests of one client over pipes.
const REQUESTS_MAX: usize = 4096;

#[test]
fn a_request_beyond_the_maximum_in_flight_is_refused_until_another_one_ends() {
    // The first call waits for ten minutes, and the others for their turn in its session.
    let desk = Desk::new(&format!("[limits]\ntime = \"600 s\"\n{OPEN}"));
    let mut wire = desk.client(Era::Legacy);
    let call = |wire: &mut Wire| wire.request("tools/call", json!({ "name": "clerk__wait", "arguments": {} }));
    let calls: Vec<i64> = (0..REQUESTS_MAX).map(|_| call(&mut wire)).collect();
    let answer = wire.ask("tools/list", json!({}));
    assert_eq!(answer["error"]["code"], -32005, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("4096 requests are in flight"), "{answer}");
    let last = calls[REQUESTS_MAX - 1];
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": last } }));
    assert!(wire.result("tools/list", json!({}))["tools"].is_array());
}
