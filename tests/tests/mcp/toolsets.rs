//! Toolsets: what each client is shown, and that it cannot call the other tools.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN, Wire};
use serde_json::{Value, json};
use std::fs;

/// Offers a client two tools, and every other client all of them.
const OFFERS: &str = "[toolset.notes]\ntools = [\"clerk.*\"]\nexcept = [\"clerk.note\"]\n\
                      [[offer]]\nclient = \"claude*\"\ntoolset = \"notes\"\n";

fn names(wire: &mut Wire) -> Vec<String> {
    let page = wire.result("tools/list", json!({}));
    page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn has(wire: &mut Wire, name: &str) -> bool {
    names(wire).iter().any(|listed| listed == name)
}

fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": { "text": "x" } })
}

#[test]
fn a_client_sees_and_calls_only_what_the_policy_offers_to_its_name() {
    let desk = Desk::new(&format!("{OPEN}{OFFERS}"));
    for era in ERAS {
        let (mut claude, mut other) = (desk.client_named(era, "Claude-Code"), desk.client_named(era, "other"));
        assert!(has(&mut claude, "clerk__echo") && has(&mut claude, "output__read"));
        assert!(!has(&mut claude, "clerk__note") && !has(&mut claude, "long-text__run"));
        assert!(has(&mut other, "clerk__note") && has(&mut other, "long-text__run"));
        assert_eq!(claude.call("clerk__echo", json!({ "text": "hi" }))["content"][0]["text"], "hi");
        for name in ["clerk__note", "clerk.note", "long-text__run"] {
            assert_eq!(claude.error("tools/call", call(name)), -32602, "{name}");
        }
        assert_eq!(other.call("clerk__note", json!({ "text": "x" }))["isError"], false);
    }
    assert_eq!(desk.notes().len(), 2, "only the other client's notes are written");
}

#[test]
fn a_server_with_a_toolset_serves_no_other_tool_to_anyone() {
    let desk = Desk::new(&format!("{OPEN}{OFFERS}"));
    let mut wire = desk.client_with(Era::Modern, &["--toolset", "notes"]);
    assert!(has(&mut wire, "clerk__echo") && !has(&mut wire, "clerk__note"));
    assert_eq!(wire.error("tools/call", call("clerk__note")), -32602);
    let explained = wire.call("tools__explain", json!({ "tool": "clerk__note", "arguments": { "text": "x" } }));
    assert_eq!(explained["isError"], true, "{explained}");
    let mut search = desk.client_with(Era::Modern, &["--toolset", "notes", "--search"]);
    let index = search.result("tools/list", json!({}))["tools"][0]["description"].to_string();
    assert!(index.contains("clerk (") && !index.contains("long-text"), "{index}");
    let found = search.call("tools__search", json!({ "query": "clerk note long text", "limit": 20 }));
    assert!(!found.to_string().contains("clerk__note") && found.to_string().contains("clerk__"), "{found}");
    let called = search.call("tools__call", json!({ "name": "clerk__note", "arguments": { "text": "x" } }));
    assert_eq!(called["isError"], true, "{called}");
    assert!(desk.notes().is_empty());
}

#[test]
fn a_changed_offer_changes_the_list() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client_named(Era::Legacy, "claude");
    assert!(has(&mut wire, "clerk__note"));
    fs::write(desk.site.path("portcullis.toml"), format!("{OPEN}{OFFERS}")).unwrap();
    while has(&mut wire, "clerk__note") {
        wire.take_first(|message| message["method"] == "notifications/tools/list_changed");
    }
    assert_eq!(wire.error("tools/call", call("clerk__note")), -32602);
}
