//! The shipped tools from end to end: a call that the policy denies has no effect, and an allowed call runs.

use crate::binary::desk::{Desk, OPEN};
use serde_json::json;
use std::fs;

/// Allows reading files, and nothing else.
const READ: &str = "[plugin.files]\n\
    directory.workspace = { path = \"work\", access = \"read-only\" }\n\
    [[rule]]\ntool = \"files.*\"\npermission = \"read\"\ndecision = \"allow\"\n";

#[test]
fn files_are_read_and_searched() {
    let desk = Desk::new(READ);
    let ran = desk.run(&["call", "files.read", r#"{"path":"poem.txt"}"#]).ends(0);
    assert!(ran.out.contains("1\troses are red") && ran.out.contains("2\tviolets are blue"), "{}", ran.out);
    let ran = desk.run(&["call", "files.grep", r#"{"regex":"vio.*blue"}"#]).ends(0);
    assert!(ran.out.contains("poem.txt") && ran.out.contains("violets are blue"), "{}", ran.out);
    let ran = desk.run(&["call", "files.list", "{}"]).ends(0);
    assert!(ran.out.contains("poem.txt"), "{}", ran.out);
    desk.verifies();
}

/// A write is denied by the policy, then by the read-only grant, and is then allowed.
#[test]
fn a_write_is_denied_until_policy_and_grant_allow_it() {
    let desk = Desk::new(READ);
    let file = desk.site.path("work/new.txt");
    let write = json!({ "path": "new.txt", "content": "one\n" });
    assert_eq!(desk.call("files.write", &write, 3)["code"], "policy-denied");
    assert!(!file.exists());
    desk.policy(&OPEN.replace("read-write", "read-only"));
    assert_ne!(desk.call("files.write", &write, 1)["code"], "completed");
    assert!(!file.exists());
    desk.policy(OPEN);
    desk.call("files.write", &write, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n");
    let edit = json!({ "path": "new.txt", "edits": [{ "old": "one", "new": "two" }] });
    let reply = desk.call("files.edit", &edit, 0);
    let message = reply["message"].as_str().unwrap();
    assert!(message.contains("-one") && message.contains("+two"), "{message}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "two\n");
    desk.verifies();
}

/// A path that leads out of the directory is rejected.
#[test]
fn nothing_outside_the_directory_is_reachable() {
    let desk = Desk::new(OPEN);
    fs::write(desk.site.path("secret.txt"), "canary-4711").unwrap();
    for path in ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "/workspace/../secret.txt"] {
        let ran = desk.run(&["--json", "call", "files.read", &json!({ "path": path }).to_string()]);
        assert_ne!(ran.code, Some(0), "{path}: {}", ran.out);
        assert!(!ran.out.contains("canary-4711") && !ran.out.contains("root:"), "{path}");
        desk.call("files.write", &json!({ "path": "../out.txt", "content": "" }), 1);
        assert!(!desk.site.path("out.txt").exists());
    }
}
