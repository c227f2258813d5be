//! Adding a plugin to the directory or removing one: clients that listen are notified in the way of their era, and the
//! list changes.

use crate::mcp::wire::{Desk, Era, OPEN, Wire};
use portcullis_tests::{Manifest, guest};
use serde_json::{Value, json};
use std::fs;

const CHANGED: &str = "notifications/tools/list_changed";

fn has(wire: &mut Wire, name: &str) -> bool {
    let page = wire.result("tools/list", json!({}));
    page["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == name)
}

fn change(desk: &Desk, wire: &mut Wire, id: Option<&Value>) {
    let hear = |wire: &mut Wire| {
        let told = wire.take_first(|message| message["method"] == CHANGED);
        let subscription = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(subscription, id.unwrap_or(&Value::Null), "{told}");
    };
    assert!(!has(wire, "dropped__run"));
    desk.site.plugin("dropped", &guest("good", &Manifest::of("dropped")));
    while !has(wire, "dropped__run") {
        hear(wire);
    }
    assert_eq!(wire.call("dropped__run", json!({}))["isError"], false);
    fs::remove_file(desk.site.plugins().join("dropped.wasm")).unwrap();
    while has(wire, "dropped__run") {
        hear(wire);
    }
    assert_eq!(wire.error("tools/call", json!({ "name": "dropped__run", "arguments": {} })), -32602);
}

#[test]
fn a_legacy_peer_is_notified_of_a_change() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    change(&desk, &mut wire, None);
}

#[test]
fn a_modern_client_that_listens_is_notified_of_a_change() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Modern);
    let id = wire.request("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let first = wire.take_first(|message| message.get("method").is_some());
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    change(&desk, &mut wire, Some(&json!(id)));
    let (status, _) = wire.close();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_modern_client_that_does_not_listen_is_not_notified() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Modern);
    let id = wire.request("subscriptions/listen", json!({ "notifications": { "promptsListChanged": true } }));
    let first = wire.take_first(|message| message.get("method").is_some());
    assert_eq!(first["params"]["notifications"].get("promptsListChanged"), None, "{first}");
    desk.site.plugin("dropped", &guest("good", &Manifest::of("dropped")));
    while !has(&mut wire, "dropped__run") {}
    assert_eq!(wire.notifications(CHANGED), Vec::<Value>::new(), "{id}");
}

#[test]
fn a_bad_file_does_not_change_the_list() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Legacy);
    desk.site.plugin("clerk", b"no component");
    desk.site.plugin("dropped", &guest("good", &Manifest::of("dropped")));
    while !has(&mut wire, "dropped__run") {}
    assert_eq!(wire.call("clerk__echo", json!({ "text": "hi" }))["content"][0]["text"], "hi");
}
