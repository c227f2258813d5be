//! Errors for programs: each has a code, and the exit code that it has for people.

use crate::binary::desk::{Desk, OPEN};
use std::fs;

/// Command lines that fail, each with its exit code and the code of its error.
const FAILURES: [(&[&str], i32, &str); 26] = [
    (&[], 2, "usage"),
    (&["no-such-command"], 2, "usage"),
    (&["list", "--no-such-option"], 2, "usage"),
    (&["call"], 2, "usage"),
    (&["help", "no-such-command"], 2, "usage"),
    (&["new", "notes", "--lang", "cobol"], 2, "usage"),
    (&["--plugins", "nowhere", "list"], 2, "plugins-unavailable"),
    (&["--policy", "nowhere.toml", "list"], 2, "policy-invalid"),
    (&["--policy", "broken.toml", "list"], 2, "policy-invalid"),
    (&["--state", "nowhere", "audit", "show"], 2, "no-state"),
    (&["--state", "nowhere", "approvals", "list"], 2, "no-state"),
    (&["check", "nowhere.wasm"], 2, "io"),
    (&["man", "nowhere"], 2, "io"),
    (&["inspect", "missing"], 6, "unknown-plugin"),
    (&["inspect", "refused"], 7, "plugin-refused"),
    (&["audit", "show", "--call", "0123456789abcdef"], 2, "unknown-call"),
    (&["approvals", "show", "123456"], 2, "unknown-approval"),
    (&["audit", "verify", "--all"], 2, "usage"),
    (&["approvals", "revoke", "not an id"], 2, "unknown-approval"),
    (&["trust", "portcullis.toml"], 2, "no-terminal"),
    (&["trust", "nowhere.toml", "--remove"], 2, "not-trusted"),
    (&["build", "nowhere"], 2, "project-invalid"),
    (&["bench", "nowhere.wasm"], 2, "io"),
    (&["bench", "plugins/hello.wasm", "--compare", "nowhere.json"], 2, "io"),
    (&["bench", "plugins/hello.wasm", "--compare", "portcullis.toml"], 2, "failed"),
    (&["test", "--component", "plugins/hello.wasm", "--cases", "nowhere"], 2, "no-cases"),
];

#[test]
fn every_error_has_a_code_and_the_exit_code_that_people_get() {
    let desk = Desk::new(OPEN);
    fs::write(desk.site.path("broken.toml"), "defualt = \"deny\"\n").unwrap();
    for (line, exit, code) in FAILURES {
        let told = desk.run(line).ends(exit);
        // What is to be trusted is shown before the question that cannot be asked.
        assert_eq!(told.out.is_empty(), code != "no-terminal", "{line:?}: {told:?}");
        assert!(!told.err.is_empty(), "{line:?}: {told:?}");
        let ran = desk.run(&[&["--json"], line].concat()).ends(exit);
        let document = ran.document();
        assert_eq!(document["error"]["code"], code, "{line:?}: {document:#}");
        let message = document["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.starts_with("error"), "{line:?}: {message}");
        assert!(!message.contains("Usage:"), "the usage is help: {message}");
    }
}

/// An error keeps its causes apart, and what to do is no part of its message.
#[test]
fn an_error_says_what_happened_why_and_what_to_do() {
    let desk = Desk::new(OPEN);
    let error = desk.run(&["--json", "--plugins", "nowhere", "list"]).ends(2).document()["error"].clone();
    assert_eq!(error["help"], "set the plugin directory with --plugins DIR or PORTCULLIS_PLUGINS");
    assert!(!error["causes"].as_array().unwrap().is_empty(), "{error:#}");
    let told = desk.run(&["--plugins", "nowhere", "list"]).ends(2).err;
    assert!(told.contains("  remedy: set the plugin directory"), "{told}");
    let usage = desk.run(&["--json", "list", "--jsno"]).ends(2).document()["error"].clone();
    assert!(usage["help"].as_str().unwrap().contains("--json"), "{usage:#}");
}
