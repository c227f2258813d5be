//! Messages that contradict their headers, or that no version of the protocol defines.

use crate::guard::service::{GOOD, MODERN, Service, TOKEN, legacy_call, modern};
use serde_json::{Value, json};

#[tokio::test]
async fn headers_that_contradict_the_message_are_rejected() {
    let service = Service::open().await;
    let call = service.call(GOOD);
    let rows = [
        ("another version", call.clone().having("MCP-Protocol-Version", "2025-11-25")),
        ("no version", call.clone().without("MCP-Protocol-Version")),
        ("another method", call.clone().having("Mcp-Method", "tools/list")),
        ("no method", call.clone().without("Mcp-Method")),
        ("another tool", call.clone().having("Mcp-Name", "good__other")),
        ("no tool", call.clone().without("Mcp-Name")),
    ];
    for (what, ask) in rows {
        let answer = service.send(&ask).await.is(400);
        assert_eq!(answer.last()["error"]["code"], -32020, "{what}: {answer:?}");
    }
    let mut without_version = modern("tools/list", json!({}));
    without_version["params"]["_meta"] = json!({});
    let answer = service.send(&service.modern(&without_version)).await.is(400);
    assert_eq!(answer.last()["error"]["code"], -32602, "{answer:?}");
    service.send(&call).await.is(200);
}

#[tokio::test]
async fn a_call_needs_a_session_or_the_version_without_sessions() {
    let service = Service::open().await;
    service.send(&service.post(&legacy_call(1, GOOD))).await.is(400);
    service.send(&service.post(&legacy_call(1, GOOD)).with("MCP-Protocol-Version", "2025-11-25")).await.is(400);
    let answer = service.send(&service.call(GOOD).having("MCP-Protocol-Version", "1999-01-01")).await.is(400);
    assert!(!answer.body.contains("panicked"), "{answer:?}");
}

#[tokio::test]
async fn a_body_that_is_not_a_single_message_is_rejected_and_runs_nothing() {
    let service = Service::open().await;
    let session = service.session(TOKEN).await;
    let call = legacy_call(1, GOOD);
    let twice = Value::Array(vec![call.clone(), call.clone()]).to_string();
    let duplicate = call.to_string().replacen("\"method\":", "\"method\":\"ping\",\"method\":", 1);
    let bodies = ["", "{", "[]", "null", "1", &twice, &duplicate, "\u{feff}{}", "{}{}"];
    for body in bodies {
        for ask in [service.of_session(&session, &call), service.post(&call).with("MCP-Protocol-Version", MODERN)] {
            let answer = service.send(&ask.body(body.to_owned())).await;
            let code = answer.clone().is(400).last()["error"]["code"].clone();
            let is_json = serde_json::from_str::<Value>(body).is_ok();
            assert_eq!(code, if is_json { -32600 } else { -32700 }, "{body:?}: {answer:?}");
        }
    }
    assert_eq!(service.host.calls_under_way(), 0);
}

#[tokio::test]
async fn arguments_that_parsers_read_differently_reach_no_tool() {
    let service = Service::open().await;
    let session = service.session(TOKEN).await;
    let call = legacy_call(1, GOOD).to_string();
    assert!(call.contains(r#""arguments":{}"#), "{call}");
    for arguments in [r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#, r#"{"a":18446744073709551616}"#] {
        let body = call.replacen(r#""arguments":{}"#, &format!(r#""arguments":{arguments}"#), 1);
        let ask = service.of_session(&session, &legacy_call(1, GOOD)).body(body);
        let answer = service.send(&ask).await.is(400).last();
        assert!(answer["id"] == 1 && answer["error"]["code"] == -32600, "{answer}");
    }
}
