//! `exec`: a program without a shell.

use portcullis_plugin_shell::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::testing::{self, Execution};

use crate::{call, plays};

#[test]
fn a_program_gets_its_arguments_unchanged() {
    let context = plays("git", Execution::new(1).stdout("On branch main\n"));
    let arguments = json!({ "program": "git", "arguments": ["commit", "-m", "It's $5 \"off\""], "stdin": "in" });
    let (text, title, metadata) = call("exec", arguments, &context);
    assert_eq!(text, "On branch main\n[exit code 1, 0.0 s]\n");
    assert_eq!(title, "Ran git commit -m It's $5 \"off\": exit code 1");
    assert_eq!(metadata, json!({ "exit": 1, "milliseconds": 0, "left-processes": 0 }));
    let started = &context.started()[0];
    assert_eq!((started.key.as_str(), started.stdin.as_slice()), ("git", &b"in"[..]));
    assert_eq!(started.launch, Launch::new(["commit", "-m", "It's $5 \"off\""]).input("in").merged());
}

#[test]
fn a_program_without_a_binding_is_denied_and_another_one_is_invalid() {
    let context = plays("sh", Execution::new(0));
    let exec = |program: &str| {
        testing::call(&PLUGIN, "exec", json!({ "program": program, "arguments": [] }), &context).unwrap_err()
    };
    assert_eq!(exec("cargo"), Failure::denied("the policy grants no program `cargo` to this tool"));
    assert!(matches!(exec("ruby"), Failure::InvalidArguments(_)));
}
