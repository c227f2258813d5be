//! The standard streams: what may be written to them, how a session starts in each era, and how it ends.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt;

#[test]
fn one_program_serves_both_eras() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        let result = wire.call("clerk__add", json!({ "numbers": [1, 2, 3] }));
        assert_eq!(result["structuredContent"], json!({ "count": 3, "sum": 6 }), "{era:?}");
        assert_eq!(result["isError"], false);
        // The result type distinguishes the eras: only the modern era has it.
        assert_eq!(result["resultType"], if era == Era::Modern { json!("complete") } else { Value::Null });
    }
}

#[test]
fn a_handshake_selects_a_version_that_both_sides_support() {
    let desk = Desk::new(OPEN);
    let versions = [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ];
    for (asked, settled) in versions {
        let mut wire = desk.stranger(Era::Legacy, &[]);
        let answer = wire.shake_hands(asked);
        assert_eq!(answer["result"]["protocolVersion"], settled, "{asked}: {answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "portcullis");
        assert_eq!(wire.call("clerk__echo", json!({ "text": "hi" }))["content"][0]["text"], "hi");
    }
}

#[test]
fn an_unsupported_version_is_rejected_with_the_supported_ones() {
    let desk = Desk::new(OPEN);
    for version in ["2024-11-05", "2099-01-01"] {
        let mut wire = desk.stranger(Era::Modern, &[]);
        let mut params = wire.with_meta(json!({}));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        wire.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params }));
        let answer = wire.answer(&json!(1));
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        let supported = answer["error"]["data"]["supported"].as_array().unwrap();
        assert!(supported.contains(&json!("2026-07-28")) && !supported.contains(&json!("2024-11-05")), "{answer}");
    }
}

#[test]
fn a_capability_that_is_not_declared_is_not_offered() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        let undeclared = [
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "x" })),
            ("logging/setLevel", json!({ "level": "debug" })),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "" } }),
            ),
            ("resources/subscribe", json!({ "uri": "portcullis://output/0" })),
            ("tasks/list", json!({})),
            ("nonsense", json!({})),
        ];
        for (method, params) in undeclared {
            assert_eq!(wire.error(method, params), -32601, "{method} {era:?}");
        }
    }
    let mut wire = desk.client(Era::Modern);
    let found = wire.result("server/discover", json!({}));
    let capabilities: Vec<&String> = found["capabilities"].as_object().unwrap().keys().collect();
    assert_eq!(capabilities, ["extensions", "resources", "tools"], "{found}");
    assert_eq!(found["capabilities"]["tools"], json!({ "listChanged": true }));
    assert_eq!(found["capabilities"]["resources"], json!({}));
    assert!(found["instructions"].as_str().is_some_and(|text| !text.is_empty()));
}

#[test]
fn only_messages_can_reach_the_client() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    let fd = |number: u8| fs::read_link(format!("/proc/{}/fd/{number}", wire.child.id())).unwrap();
    let (out, err) = (fd(1), fd(2));
    assert_eq!(out, err, "everything that is printed must go to standard error");
    assert!(out.ends_with("null"), "{}", out.display());
    // A guest's prints, and line ends in its output, stay inside one line.
    let hostile = "a\nb\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\u{2028}";
    assert_eq!(wire.call("clerk__echo", json!({ "text": hostile }))["content"][0]["text"], hostile);
    assert_eq!(wire.unasked(), Vec::<Value>::new());
}

#[test]
fn the_program_exits_when_the_client_closes_its_end() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        wire.call("clerk__echo", json!({ "text": "hi" }));
        let (status, said) = wire.close();
        assert_eq!(status.code(), Some(0), "{era:?}: {status:?} {:?}", status.signal());
        assert_eq!(said, Vec::<Value>::new());
    }
    let (status, _) = desk.stranger(Era::Legacy, &[]).close();
    assert_eq!(status.code(), Some(0), "a silent client is not an error");
}

#[test]
fn a_script_that_closes_its_end_still_gets_its_results() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    let id = wire.request("tools/call", json!({ "name": "clerk__echo", "arguments": { "text": "last" } }));
    let (status, said) = wire.close();
    assert!(said.iter().any(|message| message["id"] == id && message["result"]["content"][0]["text"] == "last"));
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_call_is_cancelled_and_answered_when_its_client_closes_its_end() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    let id = wire.request("tools/call", json!({ "name": "loop-in-execute__run", "arguments": {} }));
    let (status, said) = wire.close();
    assert_eq!(status.code(), Some(0));
    assert!(is_cut_off(&said, id), "{said:?}");
    let calls = desk.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["outcome"], "cancelled", "{}", calls[0]);
}

#[test]
fn a_program_that_is_terminated_answers_the_calls_that_it_cancels() {
    for era in ERAS {
        let desk = Desk::new(OPEN);
        let mut wire = desk.client(era);
        let params = json!({ "name": "clerk__wait", "arguments": {}, "_meta": { "progressToken": 1 } });
        let id = wire.request("tools/call", params);
        wire.take_first(|message| message["method"] == "notifications/progress");
        kill_process(Pid::from_child(&wire.child), Signal::TERM).unwrap();
        let (status, said) = wire.until_its_end();
        assert_eq!(status.code(), Some(0));
        assert!(is_cut_off(&said, id), "{era:?}: {said:?}");
        assert_eq!(desk.calls().last().unwrap()["outcome"], "cancelled");
    }
}

/// Returns whether a request was answered with the error of a server that stops.
fn is_cut_off(said: &[Value], id: i64) -> bool {
    said.iter().any(|message| message["id"] == id && message["error"]["code"] == -32000)
}
