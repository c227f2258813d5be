//! Tools that call tools, through the program: a call loads the plugins that its tool may call, the confined process
//! runs them, and the log shows the tree.

use crate::binary::desk::Desk;
use portcullis::plugins::Contract;
use portcullis_tests::{built_guest_of, shipped_plugin};
use serde_json::json;

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
