//! Servers in the commands of the program.

use crate::servers::desk::{ALLOW, Desk, definition, policy};
use serde_json::Value;
use std::fs;
use std::process::Output;

fn run(desk: &Desk, arguments: &[&str]) -> Output {
    desk.site.command(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_server_is_listed_inspected_called_and_its_change_accepted() {
    let desk = Desk::new(&["echo"]);
    fs::write(desk.site.path("policy.toml"), policy("", ALLOW)).unwrap();
    let listed = text(&run(&desk, &["list"]));
    assert!(listed.contains("desk.echo"), "{listed}");
    let inspected = run(&desk, &["inspect", "desk", "--json"]);
    let inspected: Value = serde_json::from_slice(&inspected.stdout).unwrap();
    assert_eq!((&inspected["server"], &inspected["plugin_version"]), (&true.into(), &"1.2.3".into()), "{inspected}");
    let inspected = text(&run(&desk, &["inspect", "desk"]));
    assert!(inspected.contains("none: it is an MCP server of the policy"), "{inspected}");
    let called = run(&desk, &["call", "desk.echo", r#"{"text":"hello"}"#]);
    assert_eq!((called.status.code(), text(&called).trim()), (Some(0), "hello"));
    desk.list(&[definition("echo", "Now does more.")]);
    let listed = text(&run(&desk, &["list"]));
    assert!(listed.contains("server.desk") && listed.contains("changed: echo"), "{listed}");
    let accepted = run(&desk, &["accept", "desk", "--yes"]);
    assert_eq!(accepted.status.code(), Some(0), "{}", text(&accepted));
    assert!(text(&run(&desk, &["list"])).contains("Now does more."));
}

#[test]
fn a_call_starts_only_the_servers_that_it_needs() {
    let desk = Desk::new(&["echo"]);
    let other = "[server.other]\ncommand = [\"/bin/false\"]\n";
    fs::write(desk.site.path("policy.toml"), policy("", &format!("{other}{ALLOW}"))).unwrap();
    let called = run(&desk, &["call", "desk.echo", r#"{"text":"hello"}"#]);
    assert_eq!((called.status.code(), text(&called).trim()), (Some(0), "hello"));
    let listed = text(&run(&desk, &["list"]));
    assert!(listed.contains("server.other"), "{listed}");
}
