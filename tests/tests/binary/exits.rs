//! Exit codes, on which scripts depend.

use crate::binary::desk::{Desk, OPEN};
use serde_json::json;
use std::fs;

/// Arguments of the program, and the exit code under a policy that allows everything.
const ENDS: [(&[&str], i32); 39] = [
    (&["list"], 0),
    (&["inspect", "files"], 0),
    (&["inspect", "./plugins/hello.wasm"], 0),
    (&["check", "plugins/hello.wasm"], 0),
    (&["explain", "hello.greet", r#"{"name":"Ann"}"#], 0),
    (&["call", "hello.greet", r#"{"name":"Ann"}"#], 0),
    (&["audit", "show"], 0),
    (&["audit", "show", "--call", "0123456789abcdef"], 2),
    (&["audit", "verify"], 0),
    (&["import", "--dry-run"], 0),
    (&["server", "list"], 0),
    (&["server", "install"], 0),
    (&["approvals", "list"], 0),
    (&["approvals", "list", "--all"], 0),
    (&["--help"], 0),
    (&["--version"], 0),
    (&["call", "files.read", r#"{"path":"none"}"#], 1),
    (&[], 2),
    (&["no-such-command"], 2),
    (&["list", "--no-such-option"], 2),
    (&["--plugins", "nowhere", "list"], 2),
    (&["--policy", "nowhere.toml", "list"], 2),
    (&["check", "nowhere.wasm"], 2),
    (&["approvals", "show", "123456"], 2),
    (&["approvals", "approve", "12345"], 2),
    (&["approvals", "revoke", "not an id"], 2),
    (&["server", "add", "files", "--yes", "--", "/bin/true"], 2),
    (&["server", "add", "new", "npm:a", "--yes"], 2),
    (&["server", "add", "new", "--", "/bin/true"], 2),
    (&["server", "remove", "nowhere"], 2),
    (&["trust", "nowhere.toml"], 2),
    (&["trust", "plugins/hello.wasm", "--yes"], 2),
    (&["call", "exit-one.run"], 5),
    (&["call", "hello.greet", "{"], 6),
    (&["call", "hello.greet", "{}"], 6),
    (&["call", "hello.nothing"], 6),
    (&["call", "refused.run"], 7),
    (&["check", "plugins/refused.wasm"], 7),
    (&["inspect", "refused"], 7),
];

#[test]
fn every_outcome_has_its_exit_code() {
    let desk = Desk::new(OPEN);
    for (arguments, code) in ENDS {
        let ran = desk.run(arguments).ends(code);
        assert!(!ran.out.is_empty() || !ran.err.is_empty(), "{arguments:?} printed nothing");
        assert!(!ran.out.contains("panicked") && !ran.err.contains("panicked"), "{arguments:?}");
        if !arguments.is_empty() && !arguments[0].starts_with("--") && code != 2 {
            desk.run(&[&["--json"], arguments].concat()).ends(code);
        }
    }
    desk.verifies();
}

/// Without a policy file everything is denied, and also with an empty one.
#[test]
fn the_default_is_to_deny() {
    let desk = Desk::new("");
    let ran = desk.run(&["call", "hello.greet", r#"{"name":"Ann"}"#]).ends(3);
    assert!(ran.out.is_empty() && ran.err.contains("denied (policy-denied)"), "{}", ran.err);
    fs::remove_file(desk.site.path("portcullis.toml")).unwrap();
    desk.run_in_project(&["call", "hello.greet", r#"{"name":"Ann"}"#]).ends(3);
    let explained = desk.run_in_project(&["explain", "hello.greet", r#"{"name":"Ann"}"#]).ends(0);
    assert!(explained.out.contains("deny") && explained.err.is_empty(), "{explained:?}");
}

/// An approval request without an approver, and a handle that the policy does not grant.
#[test]
fn a_call_that_was_not_allowed_is_denied() {
    let ask = Desk::new("[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n");
    let call = ["call", "hello.greet", r#"{"name":"Ann"}"#];
    for options in [&["--no-ask"][..], &["--ask", "deny"]] {
        assert!(ask.run(&[&call[..], options].concat()).ends(3).err.contains("approval-denied"));
    }
    for options in [&[][..], &["--ask", "auto"], &["--ask", "pending"]] {
        let said = ask.run(&[&call[..], options].concat()).ends(4).err;
        assert!(said.contains("approval-pending") && said.contains("portcullis approvals approve"), "{said}");
    }
    ask.policy("[approvals]\nunattended = \"deny\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n");
    assert!(ask.run(&call).ends(3).err.contains("approval-denied"));
    let ungranted = Desk::new("[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n");
    let reply = ungranted.call("files.read", &json!({ "path": "poem.txt" }), 3);
    assert_eq!(reply["code"], "dependency-not-granted");
}

#[test]
fn an_endless_loop_ends_at_its_limit() {
    let desk = Desk::new(&OPEN.replace("20 s", "300 ms"));
    let reply = desk.call("loop-in-execute.run", &json!({}), 5);
    assert_eq!((&reply["outcome"], &reply["code"]), (&json!("limit"), &json!("limit-time")));
    assert!(reply["usage"]["wall_us"].as_u64().unwrap() >= 300_000, "{reply}");
    desk.verifies();
}

/// A misspelt word is an error that names its line.
#[test]
fn a_mistake_in_the_policy_is_reported_with_its_line() {
    let mistakes = [
        ("defualt = \"deny\"\n", 1, "defualt"),
        ("\n[limits]\ntme = \"1 s\"\n", 3, "limits.tme"),
        ("[limits]\ntime = \"0 s\"\n", 2, "limits.time"),
        ("[[rule]]\ntool = \"*.*\"\ndecision = \"alow\"\n", 3, "decision"),
        ("[[rule]]\ntol = \"*.*\"\ndecision = \"allow\"\n", 2, "tol"),
        ("[plugin.hello]\ndirectory.work = { path = \".\" }\n", 2, "work"),
        ("not toml", 1, ""),
    ];
    for (policy, line, key) in mistakes {
        let desk = Desk::new(policy);
        for arguments in [&["list"][..], &["call", "hello.greet", r#"{"name":"Ann"}"#], &["--json", "list"]] {
            let ran = desk.run(arguments).ends(2);
            let said = ran.err + &ran.out;
            assert!(said.contains(key), "{policy}: {said}");
            let places = [format!("line {line}"), format!("portcullis.toml:{line}:")];
            assert!(key == "work" || places.iter().any(|place| said.contains(place)), "{policy}: {said}");
        }
    }
}

/// A modified audit log has its own exit code.
#[test]
fn a_modified_audit_log_is_reported() {
    let desk = Desk::new(OPEN);
    desk.call("hello.greet", &json!({ "name": "Ann" }), 0);
    let log = desk.site.state().join("audit.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace("hello.greet", "hello.great")).unwrap();
    assert!(desk.run(&["audit", "verify"]).ends(8).err.contains("entry 1"));
    desk.run(&["audit", "show"]).ends(8);
    let document = desk.run(&["--json", "audit", "verify"]).ends(8).document();
    assert_eq!((&document["verifies"], &document["entries"]), (&json!(false), &json!(0)));
    fs::write(&log, &text[..text.len() / 2]).unwrap();
    desk.run(&["audit", "verify"]).ends(8);
    let reply = desk.call("hello.greet", &json!({ "name": "Ann" }), 3);
    assert_eq!(reply["code"], "record-unavailable");
}
