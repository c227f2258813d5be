//! The console in a real browser: every flow, every attack of a page, and how its pages look. The scenarios are in
//! `tests/clients/console/scenarios.mjs`.

use crate::office::{installed, portcullis, succeeded};
use portcullis_tests::{Manifest, Site, guest, shipped_plugin};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Every call needs approval, except reads.
const POLICY: &str = r#"# What the agents of this project may do.

[plugin.files]
directory.workspace = { path = "work", access = "read-write" }

[approvals]
repeats = 1000

# Reads are harmless here.
[[rule]]
tool = "files.{read,list,glob,grep}"
decision = "allow"

# A person looks at every change.
[[rule]]
tool = "files.{write,edit}"
decision = "ask"
reason = "a person looks before anything changes"

[[rule]]
tool = "*.run"
decision = "ask"
"#;

/// Returns a site with the shipped files plugin, one that echoes, and one whose texts attack a page.
fn site() -> Site {
    let site = Site::new();
    site.plugin("files", &shipped_plugin("files"));
    let evil = "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>";
    let manifest = Manifest::of("evil").tool(|tool| tool.description = evil.to_owned());
    site.plugin("evil", &guest("good", &manifest));
    site.directory("work");
    fs::write(site.path("policy.toml"), POLICY).unwrap();
    site
}

/// Runs one scenario in a browser.
#[track_caller]
fn run(scenario: &str) {
    let site = site();
    let told = json!({ "scenario": scenario, "program": portcullis(), "site": site.path("") });
    node("scenarios.mjs", told, &site);
}

/// Runs a script of `tests/clients/console`.
#[track_caller]
fn node(script: &str, mut told: Value, site: &Site) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    told["browser"] = json!(installed("PORTCULLIS_TEST_BROWSER"));
    told["modules"] = json!(installed("PORTCULLIS_TEST_NODE_MODULES"));
    told["artefacts"] = json!(root.join("../target/ci-artefacts/console"));
    let mut command = Command::new(installed("PORTCULLIS_TEST_NODE"));
    command.arg(root.join("clients/console").join(script)).arg(told.to_string());
    // The browser needs a home directory for its own files.
    command.current_dir(site.path("")).env_clear().env("HOME", site.path("")).env("PATH", "/usr/bin:/bin");
    succeeded(&command.output().unwrap());
}

/// The program and its plugins are installed, and the home directory has Claude Code and nothing of Portcullis.
#[test]
fn from_init_to_an_approved_write_in_the_log() {
    let site = Site::new();
    let plugins = site.directory("prefix/share/portcullis/plugins");
    for name in ["files", "memory", "todo", "web"] {
        fs::write(plugins.join(format!("{name}.wasm")), shipped_plugin(name)).unwrap();
    }
    let program = site.directory("prefix/bin").join("portcullis");
    fs::copy(portcullis(), &program).unwrap();
    site.directory("home/.claude");
    site.directory("home/app/src");
    fs::write(site.path("home/app/src/main.rs"), "fn main() {}\n").unwrap();
    fs::write(site.path("home/app/.env"), "TOKEN=canary\n").unwrap();
    let home = site.path("home").canonicalize().unwrap();
    let told = json!({ "scenario": "minutes", "program": program, "home": home, "project": home.join("app") });
    node("first_minutes.mjs", told, &site);
}

#[test]
fn a_page_works_without_its_script() {
    run("scriptless");
}

#[test]
fn an_approver_signs_in_to_the_console_of_a_service() {
    run("service");
}

#[test]
fn keys_answer_requests() {
    run("keys");
}

#[test]
fn a_new_request_appears_without_moving_the_selected_one() {
    run("arriving");
}

#[test]
fn three_keys_answer_a_hundred_requests() {
    run("hundred");
}

#[test]
fn of_two_tabs_one_answer_counts_and_the_other_tab_is_told() {
    run("racing");
}

#[test]
fn a_request_that_changed_after_it_was_shown_is_not_approved() {
    run("changed");
}

#[test]
fn an_open_page_works_again_after_the_console_was_started_again() {
    run("restart");
}

#[test]
fn remembered_approvals_the_log_and_explain_work() {
    run("looking");
}

#[test]
fn one_tab_pauses_and_resumes_and_the_other_tab_follows() {
    run("pausing");
}

#[test]
fn a_line_of_a_live_call_opens_and_stays_open() {
    run("unfolding");
}

#[test]
fn a_call_that_begins_while_its_page_loads_is_on_it() {
    run("overtaking");
}

#[test]
fn hostile_texts_run_nothing_and_load_nothing() {
    run("hostile");
}

#[test]
fn a_page_of_another_origin_reads_presses_and_frames_nothing() {
    run("attacker");
}

#[test]
fn a_page_with_a_rebound_name_reaches_nothing() {
    run("rebinding");
}

/// At 375 and 1440 pixels, light and dark. The screenshots are in `target/ci-artefacts/console`.
#[test]
fn every_page_is_accessible_at_both_widths_and_in_both_colour_schemes() {
    run("looks");
}
