//! What a command loads: `call` and `explain` only load what they need.

use crate::binary::desk::{Desk, OPEN};
use portcullis_tests::{Manifest, guest};
use serde_json::json;
use std::fs;

/// Returns the number of cache files of a kind.
fn cached(desk: &Desk, extension: &str) -> usize {
    let files = fs::read_dir(desk.site.state().join("cache")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|found| found == extension)).count()
}

/// A component that compiles and is then refused only delays the commands that need it, and is compiled once.
#[test]
fn a_bad_plugin_does_not_delay_calls_of_others() {
    let desk = Desk::new(OPEN);
    desk.site.plugin("unfit", &guest("many-memories", &Manifest::of("unfit")));
    desk.call("hello.greet", &json!({ "name": "Ann" }), 0);
    desk.run(&["explain", "hello.greet", r#"{"name":"Ann"}"#]).ends(0);
    assert_eq!(cached(&desk, "refusal"), 0, "the refused plugin must not be loaded");
    desk.run(&["call", "unfit.run"]).ends(7);
    desk.run(&["list"]).ends(0);
    assert_eq!(cached(&desk, "refusal"), 1);
}

/// `check` ignores the cached refusal and compiles the file. If it passes, the refusal is forgotten.
#[test]
fn a_plugin_that_passes_check_is_tried_again() {
    let desk = Desk::new(OPEN);
    let good = guest("good", &Manifest::of("late"));
    desk.site.plugin("late", &good);
    let worker =
        portcullis::Compiler::Program { program: "/bin/sh".into(), arguments: vec!["-c".into(), "exit 1".into()] };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    drop(runtime.block_on(desk.site.builder_with("", worker).open()).unwrap());
    assert_eq!(cached(&desk, "refusal"), 1);
    desk.run(&["check", "plugins/late.wasm"]).ends(0);
    assert_eq!(cached(&desk, "refusal"), 0);
    desk.run(&["call", "late.run"]).ends(0);
}
