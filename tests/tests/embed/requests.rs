//! Requests: arguments that serialize, and a caller as the base of requests.

use portcullis::{Caller, Code, Host, Request};
use portcullis_tests::{BlockOn, Site, allow_all};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The entries of a call in the audit log.
fn entries(host: &Host, call: &str) -> Vec<Value> {
    let mut entries = Vec::new();
    let read = host
        .audit()
        .read(|entry| {
            if entry.document["call"] == call {
                entries.push(entry.document.clone());
            }
            Ok(())
        })
        .block_on();
    assert_eq!(read.unwrap().fault, None);
    entries
}

#[tokio::test]
async fn the_audit_log_names_the_caller_of_a_request() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    let caller = Caller::new().session("chat-7").principal("ada".parse().unwrap()).agent("example");
    let reply = host.call(caller.request_json("good.run", &json!({}))).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let entry = &entries(&host, &reply.id)[0];
    let named = ["session", "principal", "agent"].map(|member| entry[member].as_str().unwrap_or_default());
    assert_eq!(named, ["chat-7", "ada", "example"], "{entry}");
}

#[tokio::test]
async fn arguments_that_serialize_are_those_of_the_text() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    let as_text = host.call(Request::new("good.run", r#"{"a":[1,"b"]}"#)).await;
    let serialized = host.call(Request::json("good.run", &json!({ "a": [1, "b"] }))).await;
    let hash = |call: &str| entries(&host, call)[0]["arguments_sha256"].clone();
    assert!(hash(&as_text.id).is_string());
    assert_eq!(hash(&as_text.id), hash(&serialized.id));
}

#[tokio::test]
async fn arguments_that_do_not_serialize_are_refused_and_recorded() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    let no_text_keys = BTreeMap::from([(vec![1], 2)]);
    let reply = host.call(Request::json("good.run", &no_text_keys)).await;
    assert_eq!(reply.code, Code::MalformedArguments);
    assert!(reply.message.contains("cannot be written as JSON"), "{}", reply.message);
    assert_eq!(entries(&host, &reply.id).last().unwrap()["code"], "malformed-arguments");
}
