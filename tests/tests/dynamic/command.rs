//! `portcullis accept`, and generated tools in the other commands.

use crate::dynamic::desk::{Desk, policy};
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

fn run(desk: &Desk, arguments: &[&str]) -> Output {
    desk.site.command(arguments).output().unwrap()
}

fn json(desk: &Desk, arguments: &[&str]) -> Value {
    let output = run(desk, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn desk() -> Desk {
    let desk = Desk::new(&[("alpha", "The first."), ("beta", "The second.")]);
    fs::write(desk.site.path("policy.toml"), policy("")).unwrap();
    desk
}

/// Checks the plugin's file under a policy. Returns the exit code and the document.
fn checked(desk: &Desk, policy: &str) -> (Option<i32>, Value) {
    fs::write(desk.site.path("policy.toml"), policy).unwrap();
    let file = desk.site.plugins().join("dynamic.wasm");
    let output = run(desk, &["check", file.to_str().unwrap(), "--json"]);
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}")))
}

/// Returns the rules of the lints of a tool.
fn lints<'a>(document: &'a Value, tool: &str) -> Vec<&'a str> {
    let lints = document["lints"].as_array().unwrap().iter().filter(|lint| lint["tool"] == tool);
    lints.map(|lint| lint["rule"].as_str().unwrap()).collect()
}

#[test]
fn check_makes_the_tools_under_the_policy_and_lints_them() {
    let desk = desk();
    fs::write(desk.site.plugins().join("dynamic.beta.md"), "Says the second of two words.").unwrap();
    let (code, document) = checked(&desk, &policy(""));
    assert_eq!((code, &document["ok"]), (Some(0), &true.into()), "{document}");
    assert_eq!(document["generator"], json!({ "not_run": null, "tools": ["alpha", "beta"] }));
    assert_eq!((&document["tools"], &document["preparer"]), (&3.into(), &Value::Null));
    assert_eq!(lints(&document, "alpha"), ["short-description", "no-parameter-description"]);
    assert_eq!(lints(&document, "beta"), ["no-parameter-description"], "its description file replaces its description");
    assert_eq!(document["descriptions"], json!(["dynamic.beta.md"]));
    let file = desk.site.plugins().join("dynamic.wasm");
    let text = String::from_utf8(run(&desk, &["check", file.to_str().unwrap()]).stdout).unwrap();
    assert!(text.contains("  tools     own\n") && text.contains("  generates alpha, beta\n"), "{text}");
    // A check pins nothing: the first host accepts what is generated then.
    fs::remove_file(desk.site.plugins().join("dynamic.beta.md")).unwrap();
    desk.list(&[("gamma", "The third.")]);
    assert_eq!(count(&json(&desk, &["list"])), 2);
}

#[test]
fn check_says_what_the_generator_needs_if_it_was_not_run() {
    let desk = desk();
    fs::write(desk.site.plugins().join("dynamic.beta.md"), "Says the second of two words.").unwrap();
    let (code, document) = checked(&desk, "");
    assert_eq!((code, &document["ok"]), (Some(0), &true.into()), "{document}");
    let why = document["generator"]["not_run"].as_str().unwrap();
    assert!(why.contains("no section [plugin.dynamic] in the policy") && why.contains("--policy"), "{why}");
}

#[test]
fn check_reports_a_generator_that_fails_as_a_problem() {
    let desk = desk();
    let modes = [
        ("trap", "it could not generate its tools: it trapped: "),
        ("error", "the document is \\u{1b}[31mempty"),
        ("unstable", "differ from one run to the next"),
        ("schema", "the schema of bad is refused: "),
    ];
    for (mode, why) in modes {
        let (code, document) = checked(&desk, &policy(mode));
        assert_eq!((code, &document["ok"]), (Some(7), &false.into()), "{mode}: {document}");
        let problem = document["problems"][0]["problem"].as_str().unwrap();
        assert!(problem.contains(why) && document["problems"][0]["remedy"].is_string(), "{mode}: {document}");
    }
}

/// Returns how many tools of the plugin a list has.
fn count(listed: &Value) -> usize {
    let plugins = listed["plugins"].as_array().unwrap();
    let plugin = plugins.iter().find(|plugin| plugin["name"] == "dynamic").unwrap_or_else(|| panic!("{listed}"));
    plugin["tools"].as_array().unwrap().len()
}

#[test]
fn accept_shows_the_change_and_accepts_it_only_after_an_answer() {
    let desk = desk();
    let listed = json(&desk, &["list"]);
    assert_eq!(count(&listed), 3, "{listed}");
    desk.list(&[("alpha", "Clears\u{9}the screen."), ("gamma", "The third.")]);
    let listed = json(&desk, &["list"]);
    assert!(listed["refused"][0]["reason"].as_str().unwrap().contains("portcullis accept dynamic"), "{listed}");
    let output = run(&desk, &["accept", "dynamic"]);
    assert!(!output.status.success());
    let shown = String::from_utf8_lossy(&output.stdout);
    for line in ["new dynamic.gamma", "changed dynamic.alpha", "removed dynamic.beta", "    The third."] {
        assert!(shown.contains(line), "{line}: {output:?}");
    }
    assert!(!json(&desk, &["list"])["refused"].as_array().unwrap().is_empty(), "nothing was accepted");
    let accepted = json(&desk, &["accept", "dynamic", "--yes"]);
    assert_eq!(accepted["added"][0]["name"], "gamma", "{accepted}");
    assert_eq!(accepted["removed"][0], "beta", "{accepted}");
    let listed = json(&desk, &["list"]);
    assert_eq!(count(&listed), 3, "{listed}");
    assert!(listed["refused"].as_array().unwrap().is_empty(), "{listed}");
    let again = run(&desk, &["accept", "dynamic"]);
    assert!(again.status.success(), "{again:?}");
    assert!(!run(&desk, &["accept", "nothing"]).status.success());
}

#[test]
fn inspect_says_that_the_plugin_generates_tools_and_shows_them_under_a_policy() {
    let desk = desk();
    let installed = json(&desk, &["inspect", "dynamic"]);
    assert_eq!((&installed["generates"], installed["tools"].as_array().unwrap().len()), (&true.into(), 3));
    let file = desk.site.plugins().join("dynamic.wasm");
    let file = json(&desk, &["inspect", file.to_str().unwrap()]);
    assert_eq!((&file["generates"], file["tools"].as_array().unwrap().len()), (&true.into(), 1));
}
