//! A model that makes invalid calls: the host refuses each one, records it, and returns a helpful message.

use crate::agent::desk::{ALLOW, Desk};
use crate::agent::model::{Model, call, calling, done, raw_call};
use portcullis::Code;
use serde_json::{Value, json};

/// A call, words of which the result must contain one, and the code in the audit log.
type Row = (&'static str, Value, &'static [&'static str], &'static str);

fn rows() -> Vec<Row> {
    let greet = |arguments: &Value| raw_call("id", "hello__greet", arguments);
    vec![
        ("no JSON", greet(&json!("{\"name\": \"Ann")), &["not usable"], "malformed-arguments"),
        ("no JSON at all", greet(&json!("name=Ann")), &["not usable"], "malformed-arguments"),
        ("a key twice", greet(&json!(r#"{"name":"Ann","name":"Bob"}"#)), &["not usable"], "malformed-arguments"),
        ("an array", greet(&json!("[\"Ann\"]")), &["object"], "malformed-arguments"),
        ("a number", greet(&json!(7)), &["object", "JSON"], "malformed-arguments"),
        ("the wrong type", greet(&json!(r#"{"name":7}"#)), &["name"], "invalid-arguments"),
        ("a missing member", greet(&json!("{}")), &["name"], "invalid-arguments"),
        ("an unknown member", greet(&json!(r#"{"name":"Ann","loud":true}"#)), &["loud"], "invalid-arguments"),
        ("an unknown tool", call("id", "hello__shout", &json!({})), &["hello__shout"], "unknown-tool"),
        ("no tool's name", call("id", "rm -rf /", &json!({})), &["rm -rf"], "unknown-tool"),
        ("an object", greet(&json!({ "name": "Ann" })), &["Hello, Ann!"], "completed"),
        ("the right one", call("id", "hello__greet", &json!({ "name": "Bob" })), &["Hello, Bob!"], "completed"),
    ]
}

/// A confused model sends all of them in one message. None affects the others.
#[test]
fn every_malformed_call_is_answered_and_recorded() {
    let desk = Desk::new(ALLOW);
    let rows = rows();
    let with_id = |(at, (_, call, ..)): (usize, &Row)| {
        let mut call = call.clone();
        call["id"] = json!(format!("call_{at}"));
        call
    };
    let model = Model::answers([calling(rows.iter().enumerate().map(with_id)), done("learned")]);
    desk.work(&model, &["Greet Ann"]).ends(0);

    let results = &model.last_messages()[3..];
    let ids: Vec<_> = results.iter().map(|message| message["tool_call_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, (0..rows.len()).map(|at| format!("call_{at}")).collect::<Vec<_>>());
    for ((what, _, words, _), told) in rows.iter().zip(model.told()) {
        assert!(words.iter().any(|word| told.contains(word)), "{what}: {told}");
    }
    let mut codes: Vec<_> = rows.iter().map(|(_, _, _, code)| *code).chain(["completed"]).collect();
    codes.sort_unstable();
    let mut recorded: Vec<_> = desk.record().into_iter().map(|(_, code)| code).collect();
    recorded.sort_unstable();
    assert_eq!(recorded, codes);
}

/// The audit log says from where the arguments of each call came.
#[test]
fn the_audit_log_contains_what_the_model_wrote() {
    let desk = Desk::new(ALLOW);
    let model = Model::answers([calling([call("call_a", "hello__greet", &json!({ "name": "Ann" }))]), done("ok")]);
    desk.work(&model, &["Greet Ann"]).ends(0);
    let calls = desk.calls();
    let sources: Vec<&Value> = calls.iter().map(|(call, _)| &call["source"]).collect();
    for (source, id) in sources.iter().zip(["call_a", "call_done"]) {
        assert_eq!((&source["format"], &source["id"]), (&json!("openai-chat"), &json!(id)), "{calls:?}");
    }
    assert_eq!(sources[0]["raw_bytes"], json!(r#"{"name":"Ann"}"#.len()));
    assert!(sources[0]["validator"].as_str().unwrap().contains("jsonschema"), "{calls:?}");
}

/// The results of two calls with one ID could be confused, so neither runs. Other calls do.
#[test]
fn calls_with_the_same_id_are_refused() {
    let desk = Desk::new(ALLOW);
    let greet = |name: &str| call("call_a", "hello__greet", &json!({ "name": name }));
    let other = call("call_b", "hello__greet", &json!({ "name": "Eve" }));
    let model = Model::answers([calling([greet("Ann"), greet("Bob"), other]), done("ok")]);
    desk.work(&model, &["Greet them"]).ends(0);
    let told = model.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[..2].iter().all(|told| told.contains("the same id") && !told.contains("Hello")), "{told:?}");
    assert!(told[2].contains("Hello, Eve!"), "{told:?}");
    let refused = ("hello.greet", Code::CallerRefused);
    desk.recorded(&[refused, refused, ("hello.greet", Code::Completed), ("done.done", Code::Completed)]);
}

/// The third equal call in a row needs approval. Without an approver it stays pending, or is denied.
#[test]
fn the_third_equal_call_in_a_row_needs_approval() {
    for (unattended, code) in [("pending", "approval-pending"), ("deny", "approval-denied")] {
        let desk = Desk::new(&format!("[approvals]\nunattended = \"{unattended}\"\n{ALLOW}"));
        let greet = || calling([call("call_a", "hello__greet", &json!({ "name": "Ann" }))]);
        let model = Model::answers([greet(), greet(), greet(), done("gave up")]);
        desk.work(&model, &["Greet Ann"]).ends(0);
        assert!(!model.told()[0].contains("Hello"), "{:?}", model.told());
        let record = desk.record();
        let codes: Vec<_> = record.iter().filter(|(tool, _)| tool == "hello.greet").map(|(_, code)| code).collect();
        assert_eq!(codes, [code, "completed", "completed"]);
    }
}
