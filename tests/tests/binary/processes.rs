//! The program among other processes: a closed output pipe, two programs with one audit log, and a program that is
//! killed.

use crate::binary::desk::{Desk, OPEN, finish};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Timeout of every wait, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn start(desk: &Desk, arguments: &[&str]) -> Child {
    desk.command().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn kinds(desk: &Desk) -> Vec<Value> {
    let shown = desk.run(&["audit", "show", "--json"]).ends(0).out;
    shown.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone()).collect()
}

/// Starts a call of a tool that never ends, and waits until the call is decided.
fn start_loop(desk: &Desk) -> Child {
    let log = desk.site.state().join("audit.jsonl");
    let child = start(desk, &["--json", "call", "loop-in-execute.run"]);
    let began = Instant::now();
    while !fs::read_to_string(&log).is_ok_and(|text| text.contains("\"decision\"")) {
        assert!(began.elapsed() < PATIENCE, "the call was not decided in time");
        std::thread::yield_now();
    }
    child
}

#[test]
fn a_program_that_holds_secrets_writes_no_core_file() {
    let desk = Desk::new(OPEN);
    let mut child = start_loop(&desk);
    let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
}

#[test]
fn a_closed_output_pipe_is_not_an_error() {
    let desk = Desk::new(OPEN);
    for arguments in [&["list"][..], &["list", "--json"], &["inspect", "files"], &["--help"], &["call", "files.list"]] {
        let mut child = start(&desk, arguments);
        drop(child.stdout.take());
        let ran = finish(child).ends(0);
        assert!(!ran.err.contains("panicked"), "{arguments:?}: {}", ran.err);
        let mut child = start(&desk, arguments);
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

/// Concurrent programs that create one state directory together and write one audit log.
#[test]
fn two_programs_write_one_audit_log() {
    let desk = Desk::new(OPEN);
    fs::remove_dir_all(desk.site.state()).unwrap();
    for file in ["files", "loop-in-execute", "exit-one", "echo"] {
        fs::remove_file(desk.site.plugins().join(format!("{file}.wasm"))).unwrap();
    }
    desk.policy("[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n");
    for round in 1..=3 {
        let call = ["call", "hello.greet", r#"{"name":"Ann"}"#];
        let children: Vec<Child> = (0..4).map(|_| start(&desk, &call)).collect();
        for child in children {
            assert_eq!(finish(child).ends(0).out, "Hello, Ann!\n");
        }
        let kinds = kinds(&desk);
        assert_eq!(kinds.len(), round * 8, "{kinds:?}");
        desk.verifies();
    }
}

/// A program that is killed during a call leaves a decision without an outcome. The next program records the call as
/// lost.
#[test]
fn a_killed_program_leaves_a_valid_audit_log() {
    let desk = Desk::new(OPEN);
    let mut child = start_loop(&desk);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
    desk.verifies();
    assert_eq!(kinds(&desk), ["decision"]);
    desk.call("hello.greet", &json!({ "name": "Ann" }), 0);
    desk.verifies();
    assert_eq!(kinds(&desk), ["decision", "outcome", "decision", "outcome"]);
}

/// Ctrl-C and a supervisor's SIGTERM cancel the call.
#[test]
fn an_interrupted_call_is_cancelled_and_recorded() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let desk = Desk::new(OPEN);
        let child = start_loop(&desk);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let reply = finish(child).ends(1).document();
        assert_eq!(reply["outcome"], "cancelled");
        assert_eq!(kinds(&desk), ["decision", "outcome"]);
        desk.verifies();
    }
}
