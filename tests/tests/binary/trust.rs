//! A policy that a project brought along: it narrows, and widens once a person has trusted exactly this file.

use crate::desk::Desk;
use std::fs;

const ALLOW: &str = "[[rule]]\ntool = \"hello.*\"\ndecision = \"allow\"\nreason = \"the project says so\"\n";

const CALL: [&str; 3] = ["call", "hello.greet", r#"{"name":"Ann"}"#];

const NOTE: &str = "./portcullis.toml is not trusted yet, so it can only narrow: look at it, then run \
                    `portcullis trust portcullis.toml`";

#[test]
fn a_project_policy_only_narrows_until_it_is_trusted() {
    let desk = Desk::new(ALLOW);
    for arguments in [&["list"][..], &["explain", "hello.greet", CALL[2]]] {
        assert_eq!(desk.run_in_project(arguments).ends(0).err.trim_end(), NOTE);
    }
    let denied = desk.run_in_project(&CALL).ends(3).err;
    assert!(denied.contains("policy-denied") && denied.trim_end().ends_with(NOTE), "{denied}");

    let trusted = desk.run_in_project(&["trust", "portcullis.toml", "--yes"]).ends(0);
    for told in ["line 1", "allow", "hello.*: the project says so", "sha256"] {
        assert!(trusted.out.contains(told), "{told}: {}", trusted.out);
    }
    let ran = desk.run_in_project(&CALL).ends(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("Hello, Ann!\n", ""));

    // One byte more is another file.
    fs::write(desk.site.path("portcullis.toml"), format!("{ALLOW}\n")).unwrap();
    desk.run_in_project(&CALL).ends(3);
    desk.policy(ALLOW);
    desk.run_in_project(&CALL).ends(0);
    desk.run_in_project(&["trust", "--remove", "portcullis.toml"]).ends(0);
    desk.run_in_project(&["trust", "--remove", "portcullis.toml"]).ends(2);
    desk.run_in_project(&CALL).ends(3);
    desk.verifies();
}

/// A person sees whom each rule would let do it.
#[test]
fn what_is_trusted_says_whom_a_rule_speaks_of() {
    let desk = Desk::new(&format!("{ALLOW}principal = \"bob\"\norigin = \"automation\"\n"));
    let shown = desk.run_in_project(&["trust", "portcullis.toml", "--yes"]).ends(0).out;
    assert!(shown.contains("hello.*, principal bob, origin automation: the project says so"), "{shown}");
}

/// The user's policy allows; the project's takes away from it, trusted or not.
#[test]
fn a_project_policy_narrows_the_user_s() {
    let desk = Desk::new("[[rule]]\ntool = \"hello.*\"\ndecision = \"deny\"\n");
    let config = desk.site.directory("home/.config/portcullis");
    fs::write(config.join("policy.toml"), ALLOW).unwrap();
    desk.run_in_project(&CALL).ends(3);
    fs::remove_file(desk.site.path("portcullis.toml")).unwrap();
    desk.run_in_project(&CALL).ends(0);
}

/// What does not parse is not trusted, and neither is anything without a word of its person.
#[test]
fn only_a_policy_is_trusted_and_only_on_purpose() {
    let desk = Desk::new("[[rule]]\ntool = \"hello.*\"\ndecision = \"alow\"\n");
    let said = desk.run_in_project(&["trust", "portcullis.toml", "--yes"]).ends(2).err;
    assert!(said.contains("line 3") && said.contains("write one of"), "{said}");
    desk.policy(ALLOW);
    assert!(desk.run_in_project(&["trust", "portcullis.toml"]).ends(2).err.contains("--yes"));
    desk.run_in_project(&CALL).ends(3);
}
