//! `portcullis accept`, and generated tools in the other commands.

use crate::dynamic::desk::{Desk, policy};
use portcullis_tests::program;
use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

fn run(desk: &Desk, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(desk.site.path(""));
    command.arg("--plugins").arg(desk.site.plugins()).arg("--state").arg(desk.site.state());
    command.arg("--policy").arg(desk.site.path("policy.toml"));
    command.output().unwrap()
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
