//! Runs the example as a user does, and tests what it prints.

#![allow(clippy::disallowed_methods, reason = "a test runs the example and lays out its plugin directory")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

#[test]
fn the_plugin_reaches_only_the_notes_of_the_caller_and_only_the_granted_method() {
    let guests = env::var_os("PORTCULLIS_TEST_GUESTS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/guests")), PathBuf::from);
    let site = tempfile::tempdir().unwrap();
    let plugins = site.path().join("plugins");
    fs::create_dir(&plugins).unwrap();
    fs::copy(guests.join("notes.wasm"), plugins.join("notes.wasm")).expect("`cargo xtask guests` builds notes.wasm");

    let mut example = Command::new(env!("CARGO_BIN_EXE_portcullis-embed-service"));
    let ran = example.arg(&plugins).arg(site.path().join("state")).output().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    let replies: Vec<&str> = printed.split("\n\n").collect();
    assert!(replies[0].contains("completed") && replies[0].contains("raised at dawn"), "{printed}");
    assert!(!replies[0].contains("moat"), "another person's note: {printed}");
    assert!(replies[1].contains("completed") && replies[1].contains("bridge over the moat"), "{printed}");
    assert!(replies[2].contains("does not grant the method `add`; it grants search"), "{printed}");
}
