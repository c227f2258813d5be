//! Where tools are offered: over MCP, to tools that call, by the commands, and to a provider.

use crate::composition::desk::{EVERY_TOOL, answers, relays, wanted};
use crate::mcp::wire::{self, ERAS, Era};
use crate::prepared::desk::{Desk, policy};
use portcullis::Request;
use portcullis::plugins::Contract;
use portcullis_tests::built_guest_of;
use serde_json::{Value, json};
use std::fs;
use std::time::Instant;

fn named<'a>(page: &'a Value, name: &str) -> Option<&'a Value> {
    page["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name)
}

fn served(mode: &str) -> wire::Desk {
    let desk = wire::Desk::new(&policy(mode));
    desk.site.plugin("prepared", &built_guest_of(Contract::V0_2, "prepared"));
    desk.site.directory("notes");
    desk
}

#[test]
fn a_client_sees_and_calls_only_what_the_plugin_offers_it() {
    let desk = served("client");
    for era in ERAS {
        let (mut stranger, mut other) = (desk.client_named(era, "stranger"), desk.client_named(era, "other"));
        let page = stranger.result("tools/list", json!({}));
        assert!(named(&page, "prepared__erase").is_none() && named(&page, "prepared__note").is_some());
        assert!(named(&other.result("tools/list", json!({})), "prepared__erase").is_some());
        for name in ["prepared__erase", "prepared.erase"] {
            assert_eq!(stranger.error("tools/call", json!({ "name": name, "arguments": {} })), -32602, "{name}");
        }
        assert_eq!(other.call("prepared__erase", json!({}))["content"][0]["text"], "Erased.");
    }
}

#[test]
fn a_client_is_shown_the_narrower_definition() {
    let desk = served("narrow");
    for era in ERAS {
        let mut wire = desk.client(era);
        let page = wire.result("tools/list", json!({}));
        let note = named(&page, "prepared__note").unwrap();
        assert_eq!(note["description"], "Notes a short text.");
        assert_eq!(note["inputSchema"]["properties"]["kind"]["enum"], json!(["short"]));
        let refused = wire.call("prepared__note", json!({ "text": "a", "kind": "long" }));
        assert_eq!(refused["isError"], true, "{refused}");
    }
    let mut search = desk.client_with(Era::Modern, &["--search"]);
    let found = search.call("tools__search", json!({ "query": "notes a text", "limit": 5 }));
    assert!(found.to_string().contains("Notes a short text."), "{found}");
}

#[test]
fn a_short_list_has_no_hidden_tool() {
    let desk = served("always");
    let mut wire = desk.client_with(Era::Modern, &["--search"]);
    let found = wire.call("tools__search", json!({ "query": "erase all notes", "limit": 20 }));
    assert!(!found.to_string().contains("prepared__erase"), "{found}");
    let called = wire.call("tools__call", json!({ "name": "prepared__erase", "arguments": {} }));
    assert_eq!(called["isError"], true, "{called}");
}

/// A call of another tool does not wait for a preparer that loops, although a list does.
#[test]
fn a_call_asks_no_plugin_but_that_of_its_tool() {
    let desk = served("loop");
    let mut wire = desk.client(Era::Modern);
    let took = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    let call = took(&mut || assert_eq!(wire.call("clerk__echo", json!({ "text": "hi" }))["content"][0]["text"], "hi"));
    let list = took(&mut || assert!(named(&wire.result("tools/list", json!({})), "clerk__echo").is_some()));
    assert!(call < list, "{call:?}, {list:?}");
}

/// A call that waits for the preparer would end as one of an unknown tool, and without an entry in the audit log.
#[test]
fn a_cancelled_call_does_not_wait_for_a_preparer() {
    let desk = served("loop");
    for era in ERAS {
        let mut wire = desk.client(era);
        let id = wire.request("tools/call", json!({ "name": "prepared__erase", "arguments": {} }));
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        let (_, said) = wire.close();
        assert!(said.iter().all(|message| message["id"] != id), "a cancelled request has no answer: {said:?}");
    }
    let ends: Vec<Value> = desk.calls().iter().map(|call| call["outcome"].clone()).collect();
    assert_eq!(ends, ["cancelled", "cancelled"]);
}

#[tokio::test]
async fn a_tool_that_calls_is_offered_what_its_own_name_gets() {
    let desk = Desk::new();
    desk.site.plugin("relay", &built_guest_of(Contract::V0_2, "relay"));
    let binding = format!("[plugin.relay]\ntools.tools = {EVERY_TOOL}\n");
    let host = desk.site.open(&format!("{}{binding}", policy("principal"))).await;
    let listed = host.call(Request::new("relay.list", "{}")).await.message;
    assert!(listed.contains("prepared.note") && !listed.contains("prepared.erase"), "{listed}");
    let reply = host.call(relays(&[wanted("prepared.erase", &json!({}))])).await;
    assert!(!answers(&reply)[0].to_string().contains("Erased."), "{}", reply.message);
    assert_eq!(host.call(Request::new("prepared.erase", "{}")).await.message, "Erased.");
}

fn run(desk: &Desk, arguments: &[&str]) -> String {
    let output = desk.site.command(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn check_says_what_the_default_caller_is_offered_and_reports_a_faulty_answer() {
    let desk = Desk::new();
    let file = desk.site.plugins().join("prepared.wasm");
    let check = |mode: &str| -> Value {
        fs::write(desk.site.path("policy.toml"), policy(mode)).unwrap();
        let output = desk.site.command(&["check", file.to_str().unwrap(), "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let hidden = json!([{ "tool": "erase", "why": "not for \u{1b}[31mdefault" }]);
    assert_eq!(check("always")["preparer"], json!({ "not_run": null, "hidden": hidden, "narrowed": [] }));
    assert_eq!(check("narrow")["preparer"], json!({ "not_run": null, "hidden": [], "narrowed": ["note"] }));
    for (mode, why) in [("trap", "it trapped: "), ("unknown", "it has no tool no\\nsuch"), ("loop", "limit on time")] {
        let document = check(mode);
        assert_eq!(document["ok"], false, "{mode}: {document}");
        let problem = document["problems"][0]["problem"].as_str().unwrap();
        assert!(problem.contains("it could not say what it offers: ") && problem.contains(why), "{mode}: {problem}");
    }
    fs::write(desk.site.path("policy.toml"), policy("always")).unwrap();
    let text = run(&desk, &["check", file.to_str().unwrap()]);
    assert!(text.contains("  prepares  hides erase (not for ") && !text.contains('\u{1b}'), "{text}");
}

fn tool<'a>(listed: &'a Value, name: &str) -> &'a Value {
    let plugins = listed["plugins"].as_array().unwrap();
    let tools = plugins.iter().flat_map(|plugin| plugin["tools"].as_array().unwrap());
    tools.into_iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{listed}"))
}

#[test]
fn the_commands_show_what_is_hidden_and_export_what_is_offered() {
    let desk = Desk::new();
    fs::write(desk.site.path("policy.toml"), policy("always")).unwrap();
    let listed: Value = serde_json::from_str(&run(&desk, &["list", "--json"])).unwrap();
    assert_eq!(tool(&listed, "prepared.erase")["hidden"], "not for \u{1b}[31mdefault");
    assert_eq!(tool(&listed, "prepared.note")["hidden"], Value::Null);
    let text = run(&desk, &["list"]);
    assert!(text.contains("hidden: not for") && !text.contains('\u{1b}'), "{text}");
    let exported = run(&desk, &["export", "--format", "openai-chat", "--tool", "prepared.*"]);
    assert!(exported.contains("prepared__note") && !exported.contains("prepared__erase"), "{exported}");
    let picked = run(&desk, &["export", "--format", "openai-chat", "--pick", "erase all notes"]);
    assert!(!picked.contains("prepared__erase"), "{picked}");
    let inspected: Value = serde_json::from_str(&run(&desk, &["inspect", "prepared", "--json"])).unwrap();
    assert_eq!(inspected["prepares"], true);
    fs::write(desk.site.path("policy.toml"), policy("narrow")).unwrap();
    let listed: Value = serde_json::from_str(&run(&desk, &["list", "--json"])).unwrap();
    let note = tool(&listed, "prepared.note");
    assert_eq!((&note["narrowed"], &note["description"]), (&true.into(), &"Notes a short text.".into()));
    assert!(run(&desk, &["export", "--format", "anthropic"]).contains("Notes a short text."));
    assert!(run(&desk, &["list", "--tokens"]).contains("prepared.note"));
}
