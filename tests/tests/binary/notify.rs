//! `[approvals] notify`: a program learns of each new request, and can change nothing about the call.

use crate::binary::console::ASK;
use crate::binary::desk::Desk;
use portcullis_tests::{eventually, has_exited};
use serde_json::{Value, json};
use std::fs;
use std::time::Instant;

/// Makes a site whose policy runs a script for each new request.
fn desk(script: &str) -> Desk {
    let desk = Desk::new(ASK);
    let script = script.replace("HERE", &desk.site.path("").display().to_string());
    desk.policy(&format!("[approvals]\nnotify = ['sh', '-c', '''{script}''']\n{ASK}"));
    desk
}

#[test]
fn the_program_gets_the_request_as_json_and_a_small_environment() {
    let desk = desk("cat > HERE/told.json; env > HERE/env.txt; pwd > HERE/pwd.txt");
    let made = desk.call("files.write", &json!({ "path": "src/a.md", "content": "x\u{1b}".repeat(1000) }), 4);
    let told: Value = serde_json::from_str(&fs::read_to_string(desk.site.path("told.json")).unwrap()).unwrap();
    assert_eq!((&told["version"], &told["event"]), (&json!(1), &json!("approval-request")));
    assert_eq!((&told["request"], &told["call"]), (&made["approval_request"], &made["id"]));
    assert_eq!((&told["tool"], &told["targets"]), (&json!("files.write"), &json!({ "/path": "src/a.md" })));
    assert!(told["arguments"].as_str().unwrap().len() < 600, "{told}");
    let names: Vec<String> = fs::read_to_string(desk.site.path("env.txt"))
        .unwrap()
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0.to_owned()))
        .collect();
    let known = ["HOME", "LANG", "PATH", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(names.iter().all(|name| known.contains(&name.as_str())), "{names:?}");
    assert_eq!(fs::read_to_string(desk.site.path("pwd.txt")).unwrap(), "/\n");
    // The same call joins its request, and no one is told again.
    fs::remove_file(desk.site.path("told.json")).unwrap();
    desk.call("files.write", &json!({ "path": "src/a.md", "content": "x\u{1b}".repeat(1000) }), 4);
    assert!(!desk.site.path("told.json").exists());
    desk.verifies();
}

/// A program that hangs neither holds the call up, nor survives its time with what it started.
#[test]
fn a_program_that_hangs_is_killed_with_its_children() {
    let desk = desk("sleep 600 & echo $! > HERE/pid; sleep 600");
    let began = Instant::now();
    desk.call("files.write", &json!({ "path": "a.md", "content": "x" }), 4);
    assert!(began.elapsed().as_secs() < 60);
    let id: i32 = fs::read_to_string(desk.site.path("pid")).unwrap().trim().parse().unwrap();
    eventually("the child to be killed", || has_exited(id).then_some(()));
}

#[test]
fn a_program_that_does_not_exist_changes_nothing() {
    let desk = Desk::new(ASK);
    desk.policy(&format!("[approvals]\nnotify = ['/nowhere/at/all']\n{ASK}"));
    desk.call("files.write", &json!({ "path": "a.md", "content": "x" }), 4);
    desk.verifies();
}
