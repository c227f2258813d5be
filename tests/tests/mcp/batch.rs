//! `tools__batch` over the pipes of the program: clients use the names that they know, in the calls and in the results.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN, Wire, text};
use portcullis_tests::eventually;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const BATCH: &str = "tools__batch";

fn wanted(tool: &str, arguments: &Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

fn note(text: &str) -> Value {
    wanted("clerk__note", &json!({ "text": text }))
}

fn echo(tool: &str) -> Value {
    wanted(tool, &json!({ "text": "hi" }))
}

/// Returns the first line of each result.
fn lines(result: &Value) -> Vec<&str> {
    let blocks = result["content"].as_array().unwrap_or_else(|| panic!("{result}"));
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.filter(|text| text.starts_with("[Portcullis: result ")).map(|text| text.lines().next().unwrap()).collect()
}

fn codes(result: &Value) -> Vec<&str> {
    let facts = result["_meta"]["portcullis/metadata"]["results"].as_array().unwrap_or_else(|| panic!("{result}"));
    facts.iter().map(|facts| facts["code"].as_str().unwrap()).collect()
}

/// Removes plugins that also have a tool named `run`, which is a collision where names are short.
fn without_collisions(desk: &Desk) {
    for name in ["good", "loop-in-execute", "trap-on-demand"] {
        fs::remove_file(desk.site.plugins().join(format!("{name}.wasm"))).unwrap();
    }
}

#[test]
fn calls_and_results_use_the_names_that_the_client_shows() {
    let desk = Desk::new(&format!("[record]\npayloads = \"keep\"\n{OPEN}"));
    without_collisions(&desk);
    for (arguments, name) in
        [(&[][..], "clerk__echo"), (&["--tool-names", "short"], "echo"), (&["--search"], "clerk__echo")]
    {
        for era in ERAS {
            let mut wire = desk.client_with(era, arguments);
            let result = wire.call(BATCH, json!({ "calls": [echo(name), echo("clerk.echo"), echo("clerk__")] }));
            assert_eq!(result["isError"], false, "{result}");
            let expected = [
                format!("[Portcullis: result 1 of 3, {name}: completed.]"),
                "[Portcullis: result 2 of 3, clerk.echo: completed.]".to_owned(),
                "[Portcullis: result 3 of 3, clerk__: invalid (unknown-tool).]".to_owned(),
            ];
            assert_eq!(lines(&result), expected);
            assert!(text(&result).ends_with("\nhi"), "{result}");
            let unknown = result["content"][2]["text"].as_str().unwrap();
            assert!(unknown.contains("there is no such tool") && !unknown.contains("echo"), "{result}");
        }
    }
    // The record has the full names, which rules use.
    let batches: Vec<Value> = desk.calls().into_iter().filter(|call| call["tool"] == "tools.batch").collect();
    assert_eq!(batches.len(), 6);
    let arguments = batches[2]["arguments"].to_string();
    assert_eq!(arguments.matches("clerk.echo").count(), 2, "{arguments}");
}

/// Through `tools__call`, a batch equals a direct one, and neither contains the other.
#[test]
fn a_batch_is_called_through_the_short_list_too() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client_with(Era::Modern, &["--search"]);
    let calls = json!({ "calls": [note("a"), wanted("tools__call", &note("b")), wanted("tools__search", &json!({}))] });
    let result = wire.call("tools__call", json!({ "name": BATCH, "arguments": calls }));
    assert_eq!(codes(&result), ["completed", "unknown-tool", "unknown-tool"]);
    assert_eq!(desk.notes(), ["a"]);
}

#[test]
fn a_batch_reaches_no_hidden_tool_and_no_other_batch() {
    let offers = "[toolset.notes]\ntools = [\"clerk.*\"]\nexcept = [\"clerk.note\"]\n";
    let deny = "[[rule]]\ntool = \"clerk.fail\"\ndecision = \"deny\"\n";
    let desk = Desk::new(&format!("{OPEN}{offers}{deny}"));
    for era in ERAS {
        let mut wire = desk.client_with(era, &["--toolset", "notes"]);
        let inner = json!({ "calls": [echo("clerk__echo")] });
        let full = wanted("clerk.note", &json!({ "text": "x" }));
        let fail = wanted("clerk__fail", &json!({}));
        let calls = [note("x"), full, wanted(BATCH, &inner), wanted("tools.batch", &inner), fail, echo("clerk__echo")];
        let result = wire.call(BATCH, json!({ "calls": calls }));
        let expected =
            ["unknown-tool", "unknown-tool", "caller-refused", "caller-refused", "policy-denied", "completed"];
        assert_eq!(codes(&result), expected);
        assert!(!result["content"][0]["text"].as_str().unwrap().contains("clerk.note"), "{result}");
    }
    assert!(desk.notes().is_empty());
}

#[test]
fn a_batch_with_too_many_calls_makes_none() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        for count in [0, 26] {
            let calls: Vec<Value> = (0..count).map(|number| note(&number.to_string())).collect();
            let result = wire.call(BATCH, json!({ "calls": calls }));
            assert_eq!(result["isError"], true, "{result}");
            assert!(text(&result).contains("/calls"), "{result}");
        }
    }
    assert!(desk.notes().is_empty());
}

/// What a batch does depends on its calls, so no client may take it for harmless.
#[test]
fn a_batch_is_listed_as_a_tool_that_may_do_anything_unless_the_policy_denies_it() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Modern);
    let listed = |page: &Value| page["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == BATCH).cloned();
    let page = wire.result("tools/list", json!({}));
    let hints = &listed(&page).unwrap()["annotations"];
    assert_eq!((&hints["readOnlyHint"], &hints["openWorldHint"]), (&json!(false), &json!(true)), "{hints}");
    let denied = Desk::new(&format!("{OPEN}[[rule]]\ntool = \"tools.batch\"\ndecision = \"deny\"\n"));
    let page = denied.client(Era::Modern).result("tools/list", json!({}));
    assert_eq!(listed(&page), None);
}

/// Notices in the results name the tools as the client can call them.
#[test]
fn notices_in_results_use_portable_names() {
    let desk = Desk::new(&format!("[limits]\noutput = \"2 KiB\"\n{OPEN}"));
    let mut wire = desk.client(Era::Modern);
    let long = wanted("clerk__echo", &json!({ "text": "line\n".repeat(400) }));
    let result = wire.call(BATCH, json!({ "calls": [long, long] }));
    for place in 0..2 {
        let block = result["content"][place]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
        let (_, call) = block.split_once("Read the rest with output__read ").unwrap_or_else(|| panic!("{block}"));
        let arguments: Value = serde_json::Deserializer::from_str(call).into_iter().next().unwrap().unwrap();
        let page = wire.call("output__read", arguments);
        assert!(text(&page).contains("line"), "{page}");
    }
}

/// Begins a batch with a call that never ends, and waits until that call runs. Returns the id of the request.
fn begin_waiting(desk: &Desk, wire: &mut Wire) -> i64 {
    let before = desk.notes().len();
    let calls = json!({ "calls": [wanted("clerk__wait", &json!({})), echo("clerk__echo")] });
    let id = wire.request("tools/call", json!({ "name": BATCH, "arguments": calls, "_meta": { "progressToken": 1 } }));
    eventually("the call runs", || (desk.notes().len() > before).then_some(()));
    id
}

#[test]
fn cancelling_a_batch_cancels_its_calls() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        let id = begin_waiting(&desk, &mut wire);
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        let closed = Instant::now();
        let (_, said) = wire.close();
        assert!(closed.elapsed() < Duration::from_secs(4), "{:?}", closed.elapsed());
        assert!(said.iter().all(|message| message["id"] != id), "a cancelled request has no answer: {said:?}");
        let calls = desk.calls();
        let ended = |tool: &str| calls.iter().rev().find(|call| call["tool"] == tool).cloned().unwrap();
        let (batch, waits) = (ended("tools.batch"), ended("clerk.wait"));
        assert_eq!((&batch["outcome"], &waits["outcome"]), (&json!("cancelled"), &json!("cancelled")), "{calls:?}");
        assert_eq!(waits["parent"], batch["call"]);
    }
}

/// After a kill, the log verifies, and no call of the batch counts as completed that was not.
#[test]
fn killing_the_program_in_a_batch_leaves_a_log_that_verifies() {
    let desk = Desk::new(OPEN);
    let mut wire = desk.client(Era::Modern);
    begin_waiting(&desk, &mut wire);
    wire.child.kill().unwrap();
    wire.until_its_end();
    let mut next = desk.client(Era::Modern);
    assert_eq!(text(&next.call("clerk__echo", json!({ "text": "next" }))), "next");
    next.close();
    let calls = desk.calls();
    let outcome = |tool: &str| calls.iter().find(|call| call["tool"] == tool).map(|call| call["outcome"].clone());
    assert_ne!(outcome("tools.batch"), Some(json!("completed")), "{calls:?}");
    assert_ne!(outcome("clerk.wait"), Some(json!("completed")), "{calls:?}");
}
