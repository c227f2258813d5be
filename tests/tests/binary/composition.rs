//! Tools that call tools, through the program: a call loads the plugins that its tool may call, the confined process
//! runs them, and the log shows the tree.

use crate::binary::desk::{Desk, finish};
use portcullis::plugins::Contract;
use portcullis_tests::{built_guest_of, shipped_plugin};
use serde_json::{Value, json};
use std::process::Stdio;

const POLICY: &str = "[approvals]\nrepeats = 1000\n[plugin.files]\ndirectory.workspace = { path = \"work\" }\n\
    [plugin.script]\ntools.tools = { tools = [\"files.*\", \"relay.*\"], depth = 2 }\n\
    [plugin.relay]\ntools.tools = { tools = [\"echo.*\"] }\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

#[test]
fn a_call_loads_the_plugins_that_its_tool_may_call_and_the_log_shows_the_tree() {
    let desk =
        Desk::with(POLICY, &[("script", shipped_plugin("script")), ("relay", built_guest_of(Contract::V0_2, "relay"))]);
    let code = "const poem = await tools.files.read({ path: 'poem.txt' });\n\
                const inner = await tools.relay.run({ calls: [{ tool: 'echo.run', arguments: { a: 1 } }] });\n\
                return [poem.includes('violets'), inner];";
    let reply = desk.call("script.run", &json!({ "code": code }), 0);
    let text = reply["output"]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
    assert!(text.contains("true") && text.contains("{\"a\":1}"), "{text}");
    let shown = desk.run(&["audit", "show", "--tree"]);
    let levels: Vec<usize> = shown.out.lines().map(|line| line.find('└').unwrap_or(0)).collect();
    assert_eq!(levels.len(), 4, "{}", shown.out);
    assert!(levels[0] == 0 && levels[1] > 0 && levels[2] == levels[1] && levels[3] > levels[2], "{}", shown.out);
    assert!(shown.out.lines().next().unwrap().contains("script.run"), "{}", shown.out);
    desk.verifies();
}

/// The entries of two batches at the same time are mixed in the log.
#[test]
fn a_batch_and_its_calls_stand_together_in_the_tree() {
    let desk = Desk::with(POLICY, &[("relay", built_guest_of(Contract::V0_2, "relay"))]);
    let calls = json!({ "calls": [
        { "tool": "files.read", "arguments": { "path": "poem.txt" } },
        { "tool": "relay.run", "arguments": { "calls": [{ "tool": "echo.run", "arguments": { "a": 1 } }] } },
        { "tool": "files.read", "arguments": { "path": "none" } },
    ] });
    let batches = [(); 2].map(|()| {
        let mut command = desk.command();
        command.args(["--json", "call", "tools.batch", &calls.to_string()]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    batches.into_iter().for_each(|batch| drop(finish(batch).ends(0)));
    desk.call("echo.run", &json!({ "a": 2 }), 0);
    let text = desk.run(&["audit", "show", "--tree"]).ends(0).out;
    let documents = desk.run(&["audit", "show", "--tree", "--json"]).ends(0).out;
    let documents: Vec<Value> = documents.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((documents.len(), text.lines().count()), (11, 11), "{text}");
    let mut above: Vec<(&Value, usize)> = Vec::new();
    for (document, line) in documents.iter().zip(text.lines()) {
        let column = line.find('└').unwrap_or(0);
        // The lines that are further left and not interrupted by another one.
        above.retain(|(_, left)| *left < column);
        let made_by = above.last().map_or(&Value::Null, |(call, _)| *call);
        assert_eq!(&document["parent"], made_by, "{line}\n{text}");
        above.push((&document["call"], column));
    }
    let made_by = |parent: &Value| -> Vec<&str> {
        let calls = documents.iter().filter(|document| document["parent"] == *parent);
        let mut tools: Vec<&str> = calls.map(|call| call["tool"].as_str().unwrap()).collect();
        tools.sort_unstable();
        tools
    };
    assert_eq!(made_by(&Value::Null), ["echo.run", "tools.batch", "tools.batch"]);
    for batch in documents.iter().filter(|document| document["tool"] == "tools.batch") {
        assert_eq!(made_by(&batch["call"]), ["files.read", "files.read", "relay.run"]);
    }
    desk.verifies();
}
