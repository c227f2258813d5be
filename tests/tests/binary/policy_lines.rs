//! If a grant is missing, the program prints the policy lines that add it, and they are valid policy.

use crate::binary::desk::Desk;
use serde_json::{Value, json};

/// The binding that the files plugin needs, as printed.
const BINDING: &str = "[plugin.files]\ndirectory.workspace = { path = \"PATH\", access = \"read-only\" }\n";

/// A rule that permits the tools of the files plugin.
const ALLOW: &str = "[[rule]]\ntool = \"files.*\"\ndecision = \"allow\"\n";

fn lines(document: &Value) -> String {
    document["policy_lines"].as_str().unwrap_or_else(|| panic!("{document}")).to_owned()
}

#[test]
fn a_missing_grant_is_reported_with_the_lines_that_add_it() {
    let (desk, arguments) = (Desk::new(""), json!({ "path": "poem.txt" }));
    let text = arguments.to_string();
    let denied = lines(&desk.call("files.read", &arguments, 3));
    assert_eq!(denied, format!("[[rule]]\ntool = \"files.read\"\ndecision = \"ask\"\n\n{BINDING}"));
    let explained = desk.run(&["explain", "files.read", &text, "--json"]).ends(0).document();
    assert_eq!(lines(&explained), denied);
    for (arguments, code) in [(&["call", "files.read", &text][..], 3), (&["explain", "files.read", &text], 0)] {
        let ran = desk.run(arguments).ends(code);
        assert!(format!("{}{}", ran.out, ran.err).contains(&denied), "{arguments:?}: {}{}", ran.out, ran.err);
    }
    // The printed lines are sufficient.
    desk.policy(&denied.replace("PATH", "work").replace("\"ask\"", "\"allow\""));
    let reply = desk.call("files.read", &arguments, 0);
    assert!(reply.get("policy_lines").is_none(), "{reply}");
}

#[test]
fn only_missing_lines_are_printed() {
    let (desk, arguments) = (Desk::new(ALLOW), json!({ "path": "poem.txt" }));
    assert_eq!(lines(&desk.call("files.read", &arguments, 3)), BINDING);
    // A second table for the same plugin would be invalid TOML.
    let expected = BINDING.replace("[plugin.files]", "# in [plugin.files]");
    for table in ["limits = { time = \"5 s\" }\n", "clock = \"coarse\"\n", ""] {
        desk.policy(&format!("{ALLOW}[plugin.files]\n{table}"));
        assert_eq!(lines(&desk.call("files.read", &arguments, 3)), expected, "{table}");
    }
    // No additional line can override a deny rule.
    desk.policy(&format!("{BINDING}[[rule]]\ntool = \"files.*\"\ndecision = \"deny\"\n").replace("PATH", "work"));
    let denied = desk.call("files.read", &arguments, 3);
    assert!(denied.get("policy_lines").is_none(), "{denied}");
}

#[test]
fn a_plugin_is_listed_with_the_lines_that_all_its_tools_need() {
    let desk = Desk::new("");
    let needed = "[[rule]]\ntool = \"files.*\"\ndecision = \"ask\"\n\n".to_owned() + &BINDING.replace("only", "write");
    for arguments in [&["inspect", "files"][..], &["check", "plugins/files.wasm"], &["inspect", "plugins/files.wasm"]] {
        let text = desk.run(arguments).ends(0).out;
        assert!(text.contains(&format!("add these lines to the policy:\n\n{needed}")), "{arguments:?}: {text}");
        let document = desk.run(&[arguments, &["--json"]].concat()).ends(0).document();
        assert_eq!(lines(&document), needed, "{arguments:?}");
    }
    desk.policy(&format!("{ALLOW}{}", BINDING.replace("PATH", "work")));
    let granted = desk.run(&["inspect", "files", "--json"]).ends(0).document();
    assert!(granted.get("policy_lines").is_none(), "{granted}");
}
