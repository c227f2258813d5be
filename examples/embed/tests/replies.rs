//! Runs the example as a user does, and tests what it prints.

#![allow(clippy::disallowed_methods, reason = "a test runs the example and lays out its directories")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::process::Command;

const ALLOW: &str = "[[rule]]\ntool = \"words.count\"\ndecision = \"allow\"\n";

/// Calls the function of the example under a policy. Returns what the example prints.
fn count(policy: &str, arguments: &str) -> String {
    let site = tempfile::tempdir().unwrap();
    let (plugins, file) = (site.path().join("plugins"), site.path().join("portcullis.toml"));
    fs::create_dir(&plugins).unwrap();
    fs::write(&file, policy).unwrap();
    let mut example = Command::new(env!("CARGO_BIN_EXE_portcullis-embed"));
    let ran = example.arg(&plugins).arg(site.path().join("state")).arg(&file).args(["words.count", arguments]);
    let ran = ran.output().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    printed
}

#[test]
fn a_function_of_the_program_is_a_tool_that_the_policy_decides_on() {
    let words = r#"{"text":"a gate that falls"}"#;
    assert_eq!(count(ALLOW, words), "completed: 4 words\n");
    assert!(count("", words).starts_with("policy-denied: "));
    assert!(count(ALLOW, "{}").starts_with("invalid-arguments: "));
}
