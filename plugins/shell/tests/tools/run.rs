//! `run`: a command and its answer.

use std::time::Duration;

use portcullis_plugin_shell::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::testing::{self, Execution, Started};

use crate::{call, plays};

#[test]
fn the_answer_is_what_the_command_prints_and_how_it_ended() {
    let context = plays("sh", Execution::new(0).stdout("one\n").stderr("two\n").takes(Duration::from_millis(1234)));
    let arguments = json!({ "command": "ls -l", "directory": "/workspace/src", "stdin": "text" });
    let (text, title, metadata) = call("run", arguments, &context);
    assert_eq!(text, "one\ntwo\n[exit code 0, 1.2 s]\n");
    assert_eq!(title, "Ran ls -l: exit code 0");
    assert_eq!(metadata, json!({ "exit": 0, "milliseconds": 1234, "left-processes": 0 }));
    let launch = Launch::new(["-c", "ls -l"]).directory("/workspace/src").input("text").merged();
    let started = Started { key: "sh".to_owned(), launch, stdin: b"text".to_vec(), is_killed: false };
    assert_eq!(context.started(), [started]);
}

#[test]
fn a_command_that_fails_is_an_answer_and_not_a_failure() {
    let (text, title, metadata) = call("run", json!({ "command": "false" }), &plays("sh", Execution::new(2)));
    assert_eq!(text, "[exit code 2, 0.0 s]\n");
    assert_eq!((title.as_str(), &metadata["exit"]), ("Ran false: exit code 2", &json!(2)));

    let killed = Execution::ended(Exit::Signal(9)).stdout("no line feed");
    let (text, _, metadata) = call("run", json!({ "command": "x" }), &plays("sh", killed));
    assert_eq!(text, "no line feed\n[ended by signal 9, 0.0 s]\n");
    assert_eq!((&metadata["exit"], &metadata["signal"]), (&json!(null), &json!(9)));

    let stopped = Execution::ended(Exit::Stopped("it used more than 1 GiB of memory".to_owned()));
    let (text, _, metadata) = call("run", json!({ "command": "x" }), &plays("sh", stopped));
    assert_eq!(text, "[stopped: it used more than 1 GiB of memory, 0.0 s]\n");
    assert_eq!(metadata["stopped"], "it used more than 1 GiB of memory");
}

#[test]
fn ended_processes_and_refusals_are_named() {
    let execution =
        Execution::new(0).left_processes(2).refused("GET http://a.example/").refused("connect b.example:22");
    let (text, _, metadata) = call("run", json!({ "command": "x" }), &plays("sh", execution));
    let expected = "2 background processes were ended.\n\
                    The sandbox refused: GET http://a.example/\n\
                    The sandbox refused: connect b.example:22\n\
                    [exit code 0, 0.0 s]\n";
    assert_eq!((text.as_str(), &metadata["left-processes"]), (expected, &json!(2)));

    let many =
        (0..25).fold(Execution::new(0).left_processes(1), |execution, number| execution.refused(number.to_string()));
    let (text, ..) = call("run", json!({ "command": "x" }), &plays("sh", many));
    assert!(text.starts_with("1 background process was ended.\n"), "{text}");
    assert!(text.contains("refused: 19\nThe sandbox refused 5 more.\n"), "{text}");
}

#[test]
fn a_timeout_ends_the_command() {
    let context = plays("sh", Execution::endless().stdout("begun"));
    let (text, title, metadata) = call("run", json!({ "command": "sleep 100", "timeout": 1 }), &context);
    assert_eq!(text, "begun\n[stopped: the timeout of 1 s is over, 0.0 s]\n");
    assert_eq!(title, "Ran sleep 100: stopped: the timeout of 1 s is over");
    assert_eq!(metadata["stopped"], "the timeout of 1 s is over");
    assert!(context.started()[0].is_killed);
}

#[test]
fn a_cancelled_call_ends_the_command() {
    let context = plays("sh", Execution::endless().stdout("begun")).cancelled_after(3);
    let failure = testing::call(&PLUGIN, "run", json!({ "command": "sleep 100" }), &context).unwrap_err();
    assert_eq!((failure, context.written().as_str()), (Failure::Cancelled, "begun"));
    assert!(context.started()[0].is_killed);

    let context = plays("sh", Execution::new(0)).cancelled();
    let failure = testing::call(&PLUGIN, "run", json!({ "command": "ls" }), &context).unwrap_err();
    assert_eq!((failure, context.started()), (Failure::Cancelled, vec![]));
}

#[test]
fn a_command_needs_a_binding_and_a_start() {
    let failure = testing::call(&PLUGIN, "run", json!({ "command": "ls" }), &testing::Context::new()).unwrap_err();
    assert_eq!(failure, Failure::denied("the policy grants no program `sh` to this tool"));
    let context = testing::Context::new().plays_program("sh", |_| Err("/bin/bash has changed".to_owned()));
    let failure = testing::call(&PLUGIN, "run", json!({ "command": "ls" }), &context).unwrap_err();
    assert_eq!(failure, Failure::failed("/bin/bash has changed"));
}

#[test]
fn a_title_is_one_visible_line() {
    let title = |command: &str| call("run", json!({ "command": command }), &plays("sh", Execution::new(0))).1;
    assert_eq!(title("  ls\t-l\nrm a"), "Ran ls -l…: exit code 0");
    assert_eq!(title("ls \u{202e}a\u{1b}[1m"), "Ran ls a[1m: exit code 0");
    assert_eq!(title(&"x".repeat(100)), format!("Ran {}…: exit code 0", "x".repeat(60)));
}
