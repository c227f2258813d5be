//! JSON output: one document on one line, with the documented members and no others.

use crate::binary::desk::{Desk, OPEN};
use portcullis::plugins::Contract;
use portcullis_tests::{allow_all, built_guest_of};
use serde_json::{Value, json};

fn members(document: &Value) -> Vec<&str> {
    document.as_object().unwrap_or_else(|| panic!("{document}")).keys().map(String::as_str).collect()
}

/// The members of a reply, sorted.
const REPLY: [&str; 11] =
    ["code", "id", "message", "metadata", "outcome", "output", "reference", "title", "tool", "usage", "version"];

/// The members of a reply's usage, sorted.
const USAGE: [&str; 5] = ["bytes_in", "bytes_out", "cpu_us", "memory_bytes", "wall_us"];

#[test]
fn every_reply_has_the_same_members() {
    let desk = Desk::new(OPEN);
    let calls = [
        ("hello.greet", json!({ "name": "Ann" }), 0, "completed"),
        ("files.read", json!({ "path": "poem.txt" }), 0, "completed"),
        ("echo.run", json!({ "a": 1 }), 0, "completed"),
        ("files.read", json!({ "path": "none" }), 1, "failed"),
        ("exit-one.run", json!({}), 5, "trapped"),
        ("hello.greet", json!({}), 6, "invalid"),
        ("hello.nothing", json!({}), 6, "invalid"),
        ("refused.run", json!({}), 7, "refused"),
    ];
    for (tool, arguments, code, outcome) in calls {
        let reply = desk.call(tool, &arguments, code);
        let mut found = members(&reply);
        found.sort_unstable();
        assert_eq!(found, REPLY, "{tool}");
        assert_eq!(members(&reply["usage"]), USAGE, "{tool}");
        assert_eq!((&reply["tool"], &reply["outcome"]), (&json!(tool), &json!(outcome)));
        assert_eq!(reply["output"].is_null(), code != 0, "{tool}");
        assert!(reply["id"].as_str().is_some_and(|id| id.len() == 32), "{tool}");
        assert!(reply["message"].as_str().is_some_and(|message| !message.is_empty()), "{tool}");
    }
    let echoed = desk.call("echo.run", &json!({ "b": [1.5, null], "a": "é" }), 0);
    assert_eq!(echoed["output"], json!({ "type": "json", "value": { "b": [1.5, null], "a": "é" } }));
}

#[test]
fn every_listing_is_a_document() {
    let desk = Desk::new(OPEN);
    let list = desk.run(&["list", "--json"]).ends(0).document();
    let tools = |plugin: &Value| plugin["tools"].as_array().unwrap().len();
    let plugins: Vec<_> =
        list["plugins"].as_array().unwrap().iter().map(|plugin| (&plugin["name"], tools(plugin))).collect();
    assert!(plugins.contains(&(&json!("files"), 7)) && plugins.contains(&(&json!("hello"), 1)), "{plugins:?}");
    assert_eq!(list["refused"][0]["file"], "refused.wasm");
    let hello = desk.run(&["inspect", "hello", "--json"]).ends(0).document();
    assert_eq!((&hello["name"], &hello["tools"][0]["schema"]["type"]), (&json!("hello"), &json!("object")));
    let check = desk.run(&["check", "plugins/hello.wasm", "--json"]).ends(0).document();
    assert_eq!((&check["ok"], &check["problems"]), (&json!(true), &json!([])));
    let check = desk.run(&["check", "plugins/refused.wasm", "--json"]).ends(7).document();
    assert_eq!((&check["ok"], check["problems"].as_array().unwrap().len()), (&json!(false), 1));
    let explain = desk.run(&["explain", "files.read", r#"{"path":"a"}"#, "--json"]).ends(0).document();
    assert_eq!((&explain["tool"], &explain["arguments"]), (&json!("files.read"), &json!(r#"{"path":"a"}"#)));
}

/// The audit log is printed as one document per entry. A prefix of a call's ID finds its entries.
#[test]
fn audit_entries_are_documents() {
    let desk = Desk::new(OPEN);
    let reply = desk.call("hello.greet", &json!({ "name": "Ann" }), 0);
    desk.call("hello.greet", &json!({}), 6);
    let verify = desk.run(&["audit", "verify", "--json"]).ends(0).document();
    assert_eq!(verify, json!({ "version": 1, "entries": 3, "verifies": true, "fault": null, "ledger_rollbacks": [] }));
    let shown = desk.run(&["audit", "show", "--json"]).ends(0).out;
    let entries: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries.iter().map(|entry| &entry["kind"]).collect::<Vec<_>>(), ["decision", "outcome", "outcome"]);
    let id = &reply["id"].as_str().unwrap()[..8];
    assert_eq!(desk.run(&["audit", "show", "--json", "--call", id]).ends(0).out.lines().count(), 2);
    assert_eq!(desk.run(&["audit", "show", "--json", "--limit", "1"]).ends(0).out.lines().count(), 1);
}

/// Errors are documents too.
#[test]
fn an_error_is_a_document() {
    let desk = Desk::new(OPEN);
    for arguments in [&["--json", "--plugins", "nowhere", "list"][..], &["--json", "inspect", "missing"]] {
        let ran = desk.run(arguments);
        assert_eq!(members(&ran.document()), ["error", "version"]);
    }
}

/// The argument `-` reads the call's arguments from stdin, as bytes.
#[test]
fn arguments_are_read_from_stdin() {
    let desk = Desk::new(OPEN);
    let call = ["--json", "call", "hello.greet", "-"];
    let reply = desk.run_with(&call, br#" { "name" : "Ann" } "#).ends(0).document();
    assert_eq!(reply["message"], "Hello, Ann!");
    desk.run_with(&call, b"").ends(6);
    desk.run_with(&call, b"{\"name\":\"\xff\"}").ends(6);
    desk.run_with(&call, &vec![b' '; 17 << 20]).ends(6);
    let explained = desk.run_with(&["--json", "explain", "hello.greet", "-"], br#""{\"name\":\"B\"}""#).ends(0);
    assert_eq!(explained.document()["arguments"], r#"{"name":"B"}"#);
}

#[test]
fn a_kept_image_is_read_with_its_bytes() {
    let scribe = built_guest_of(Contract::V0_2, "output");
    let desk = Desk::with(&allow_all("output = \"4 KiB\""), &[("scribe", scribe)]);
    let part = json!({ "media_type": "image/png", "bytes": 9000 });
    let kept = desk.call("scribe.parts", &json!({ "parts": [part] }), 0);
    let arguments = json!({ "reference": kept["reference"]["id"] });
    let read = desk.call("output.read", &arguments, 0);
    let image = &read["output"]["parts"][0];
    assert_eq!((&image["type"], &image["media_type"]), (&json!("image"), &json!("image/png")), "{read}");
    assert_eq!(image["data"].as_str().unwrap().len(), 12_000);
    let shown = desk.run(&["call", "output.read", &arguments.to_string()]);
    assert!(shown.out.starts_with("[image, image/png, "), "{}", shown.out);
}
