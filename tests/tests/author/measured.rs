//! `portcullis bench`: its figures, its comparison with a saved run, and what it refuses. No test depends on how fast
//! the machine is: where a test needs a slow plugin, the plugin computes for thousands of times as long.

use crate::author::bench::Bench;
use crate::schema::assert_valid;
use portcullis::text::is_deceptive;
use portcullis_tests::{Manifest, built_guest, component, eventually, guest, module, shipped_plugin};
use serde_json::{Value, json};
use std::fs;

/// All figures of a tool, in order. The plugin itself has `compile`.
const FIGURES: [&str; 12] = [
    "cold",
    "warm-median",
    "warm-p95",
    "warm-p99",
    "warm-sandbox",
    "warm-host",
    "concurrent-rate",
    "concurrent-median",
    "concurrent-p99",
    "memory-guest",
    "memory-loaded",
    "memory-call",
];

/// The options of a short run.
const SHORT: [&str; 2] = ["--seconds", "1"];

/// A text that would clear the screen and reverse a line.
const HOSTILE: &str = "\u{1b}[2J\u{202e}hostile\u{9b}31m";

fn hello() -> Bench {
    let bench = Bench::new();
    bench.component("hello", &built_guest("hello"));
    bench.cases("hello.json", &json!([greeting("Ann", "completed")]));
    bench
}

fn greeting(name: &str, outcome: &str) -> Value {
    json!({"name": format!("greets {name}"), "tool": "greet", "arguments": {"name": name}, "expect": {"outcome": outcome}})
}

/// A plugin `spin` whose tool runs a loop this many times.
fn spin(rounds: u32) -> Vec<u8> {
    let execute = format!(
        "(func $execute (param i32 i32 i32 i32) (result i32) (local $left i32)
           (local.set $left (i32.const {rounds}))
           (loop $more
             (local.set $left (i32.sub (local.get $left) (i32.const 1)))
             (br_if $more (i32.gt_s (local.get $left) (i32.const 0))))
           (call $answer (i32.const 0) (i32.const 0) (i32.const 0)))"
    );
    component(&module(&execute, &Manifest::of("spin")))
}

/// A folder with a quick plugin `spin` and its saved run.
fn saved() -> Bench {
    let bench = Bench::new();
    bench.component("spin", &spin(1));
    bench.cases("spin.json", &json!({"name": "spins", "tool": "run", "expect": {"outcome": "completed"}}));
    measured(&bench, &["spin.wasm", "--save", "saved.json"], 0);
    bench
}

fn measured(bench: &Bench, arguments: &[&str], code: i32) -> Value {
    let document = bench.run(&[&["bench", "--json"], arguments, &SHORT].concat()).ends(code).document();
    assert_valid("bench", &document);
    document
}

fn names(figures: &Value) -> Vec<&str> {
    figures.as_array().unwrap().iter().map(|figure| figure["figure"].as_str().unwrap()).collect()
}

fn not_measured(document: &Value) -> &str {
    document["plugins"][0]["tools"][0]["not_measured"].as_str().unwrap_or_else(|| panic!("{document:#}"))
}

#[track_caller]
fn harmless(text: &str) {
    let found = text.chars().find(|character| is_deceptive(*character) && *character != '\n');
    assert_eq!(found, None, "{text:?}");
}

#[test]
fn a_run_has_every_figure_with_its_samples() {
    let bench = hello();
    let document = measured(&bench, &["hello.wasm"], 0);
    let plugin = &document["plugins"][0];
    assert_eq!(names(&plugin["figures"]), ["compile"], "{document:#}");
    let tool = &plugin["tools"][0];
    assert_eq!((&tool["tool"], &tool["case"], &tool["notes"]), (&json!("greet"), &json!("greets Ann"), &json!([])));
    assert_eq!(names(&tool["figures"]), FIGURES, "{document:#}");
    for figure in tool["figures"].as_array().unwrap() {
        assert!(figure["samples"].as_u64().unwrap() >= 1, "{figure}");
        let is_memory = figure["unit"] == "bytes";
        assert!(is_memory || figure["value"].as_f64().unwrap() > 0.0, "{figure}");
    }
    // Each of the callers makes a call.
    assert!(tool["figures"][6]["samples"].as_u64().unwrap() >= document["in_flight"].as_u64().unwrap(), "{document:#}");
    // Nothing of the user's was created or used.
    assert!(!bench.site.path("home/.local/share").exists() && !bench.site.path("home/.config").exists());
    let text = bench.run(&[&["bench", "hello.wasm"][..], &SHORT].concat()).ends(0).out;
    for words in
        ["hello.greet", "greets Ann", "grants nothing", "compile", "cold", "warm: p99", "calls per s", "guest's peak"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_slower_plugin_fails_beside_a_saved_run_only_if_the_user_asks() {
    let bench = saved();
    let before = fs::read_to_string(bench.site.path("saved.json")).unwrap();
    assert_valid("bench", &serde_json::from_str(&before).unwrap());
    bench.component("spin", &spin(20_000_000));
    let document = measured(&bench, &["spin.wasm", "--compare", "saved.json"], 0);
    let warm = &document["plugins"][0]["tools"][0]["figures"][1];
    assert!(warm["ratio"].as_f64().unwrap() > 3.0 && warm["before"].is_number(), "{document:#}");
    assert_eq!((&document["worse"], &document["compared_with"]["notes"]), (&json!([]), &json!([])), "{document:#}");
    let failing = ["spin.wasm", "--compare", "saved.json", "--fail-above", "3"];
    let document = measured(&bench, &failing, 1);
    let worse: Vec<&str> =
        document["worse"].as_array().unwrap().iter().map(|worse| worse["figure"].as_str().unwrap()).collect();
    assert!(worse.contains(&"warm-median") && worse.contains(&"concurrent-rate"), "{document:#}");
    let ran = bench.run(&[&["bench"], &failing[..], &SHORT].concat()).ends(1);
    assert!(ran.out.contains(", before ") && ran.err.contains("worse: spin.run: warm-median is worse"), "{ran:?}");
    // The comparison does not change the saved run.
    assert_eq!(fs::read_to_string(bench.site.path("saved.json")).unwrap(), before);
}

#[test]
fn a_run_that_is_no_slower_passes_and_replaces_its_own_file() {
    let bench = Bench::new();
    bench.component("spin", &spin(20_000_000));
    bench.cases("spin.json", &json!({"name": "spins", "tool": "run", "expect": {"outcome": "completed"}}));
    measured(&bench, &["spin.wasm", "--save", "saved.json"], 0);
    bench.component("spin", &spin(1));
    let both = ["spin.wasm", "--compare", "saved.json", "--save", "saved.json", "--fail-above", "50"];
    let document = measured(&bench, &both, 0);
    let saved: Value = serde_json::from_str(&fs::read_to_string(bench.site.path("saved.json")).unwrap()).unwrap();
    assert_eq!(saved["plugins"][0]["sha256"], document["plugins"][0]["sha256"]);
    assert_eq!(saved["compared_with"], Value::Null);
}

#[test]
fn another_machine_and_other_arguments_are_noted() {
    let bench = saved();
    let mut saved: Value = serde_json::from_str(&fs::read_to_string(bench.site.path("saved.json")).unwrap()).unwrap();
    saved["machine"]["processor"] = json!(HOSTILE);
    saved["host_version"] = json!("0.0.1");
    saved["plugins"][0]["sha256"] = json!(HOSTILE);
    fs::write(bench.site.path("saved.json"), saved.to_string()).unwrap();
    let line = ["spin.wasm", "--tool", "spin.run", "--arguments", r#"{"a":1}"#, "--compare", "saved.json"];
    let notes = measured(&bench, &line, 0)["compared_with"]["notes"].to_string();
    for words in ["another machine", "portcullis 0.0.1", "other arguments"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    let ran = bench.run(&[&["bench"], &line[..], &SHORT].concat()).ends(0);
    assert!(ran.err.contains("another machine"), "{ran:?}");
    harmless(&(ran.out + &ran.err));
}

#[test]
fn a_run_without_a_tool_in_common_does_not_pass() {
    let bench = saved();
    bench.component("hello", &built_guest("hello"));
    let line = ["hello.wasm", "--tool", "greet", "--arguments", r#"{"name":"Ann"}"#, "--compare", "saved.json"];
    measured(&bench, &line, 0);
    measured(&bench, &[&line[..], &["--fail-above", "9"]].concat(), 1);
}

#[test]
fn a_tool_without_a_case_to_repeat_is_listed_with_the_reason() {
    let bench = hello();
    fs::remove_dir_all(bench.site.path("tests")).unwrap();
    let document = measured(&bench, &["hello.wasm"], 2);
    assert!(not_measured(&document).contains("it has no test case"), "{document:#}");
    assert_eq!(names(&document["plugins"][0]["figures"]), ["compile"]);
    let asked = json!({"name": "asked", "tool": "greet", "arguments": {"name": "Ann"}, "decision": "ask",
        "answer": "approve", "expect": {"outcome": "completed"}});
    bench.cases("hello.json", &json!([asked, greeting("", "failed")]));
    let document = measured(&bench, &["hello.wasm"], 2);
    assert!(not_measured(&document).contains("without an approver"), "{document:#}");
    let ran = bench.run(&["bench", "hello.wasm", "--tool", "no-such-tool"]).ends(2);
    assert!(ran.err.contains("no plugin here has the tool"), "{ran:?}");
}

#[test]
fn a_tool_that_traps_has_no_figures_and_is_worse_than_before() {
    let bench = Bench::new();
    bench.component("trap", &guest("trap-on-demand", &Manifest::of("trap")));
    let line = |arguments| ["trap.wasm", "--tool", "run", "--arguments", arguments];
    measured(&bench, &[&line("{}")[..], &["--save", "saved.json"]].concat(), 0);
    let document = measured(&bench, &[&line(r#"{"a":1}"#)[..], &["--compare", "saved.json"]].concat(), 1);
    assert!(not_measured(&document).starts_with("trapped: "), "{document:#}");
    let worse = json!([{"plugin": "trap", "tool": "run", "figure": null, "factor": null}]);
    assert_eq!(document["worse"], worse);
}

#[test]
fn a_refused_plugin_is_reported() {
    let bench = Bench::new();
    bench.component("broken", b"no component");
    let document = measured(&bench, &["broken.wasm"], 7);
    assert!(document["plugins"][0]["refused"].is_string(), "{document:#}");
}

#[test]
fn every_warm_call_finds_the_first_content_of_its_directory() {
    let bench = Bench::new();
    bench.component("files", &shipped_plugin("files"));
    // The tool replaces a text that must be there, so a second call in the same directory fails.
    let grants = json!({"directory": {"workspace": {"access": "read-write", "files": {"a.txt": "one\n"}}}});
    bench.cases(
        "files.json",
        &json!({"name": "edits", "tool": "edit", "grants": grants,
                "arguments": {"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}, "expect": {"outcome": "completed"}}),
    );
    let tool = &measured(&bench, &["files.wasm", "--tool", "edit"], 0)["plugins"][0]["tools"][0];
    assert_eq!(tool["grants"], json!(["directory workspace (read-write)"]), "{tool:#}");
    let notes = tool["notes"].to_string();
    assert!(!notes.contains("cold:") && !notes.contains("warm:"), "{notes}");
    // The callers share the directory, so all calls but the first fail, and the figures leave them out.
    assert!(notes.contains("concurrent: "), "{notes}");
}

#[test]
fn arguments_of_the_command_line_get_no_grant() {
    let bench = Bench::new();
    bench.component("files", &shipped_plugin("files"));
    fs::write(bench.site.path("a.txt"), "mine\n").unwrap();
    let line = ["files.wasm", "--tool", "files.read", "--arguments", r#"{"path":"a.txt"}"#];
    let document = measured(&bench, &line, 1);
    assert!(not_measured(&document).starts_with("dependency-not-granted: "), "{document:#}");
}

#[test]
fn a_case_with_a_server_is_measured() {
    let bench = Bench::new();
    bench.component("web", &shipped_plugin("web"));
    let served = json!({"http": {"fetch": {"answers": [
        {"path": "/a", "headers": {"content-type": "text/plain"}, "body": "it is here"}]}}});
    bench.cases(
        "web.json",
        &json!({"name": "a text", "tool": "fetch", "arguments": {"url": "${http.fetch}/a"}, "grants": served,
                "expect": {"outcome": "completed"}}),
    );
    let tool = &measured(&bench, &["web.wasm", "--tool", "fetch"], 0)["plugins"][0]["tools"][0];
    assert_eq!((&tool["notes"], names(&tool["figures"])), (&json!([]), FIGURES.to_vec()), "{tool:#}");
}

#[test]
fn a_case_with_a_store_is_measured() {
    let bench = Bench::new();
    bench.component("memory", &shipped_plugin("memory"));
    bench.cases(
        "memory.json",
        &json!({"name": "counts", "tool": "increment", "arguments": {"key": "n"},
                "grants": {"store": {"notes": "session"}}, "expect": {"outcome": "completed"}}),
    );
    let tool = &measured(&bench, &["memory.wasm", "--tool", "increment"], 0)["plugins"][0]["tools"][0];
    assert_eq!((&tool["notes"], &tool["grants"]), (&json!([]), &json!(["store notes"])), "{tool:#}");
    assert_eq!(names(&tool["figures"]), FIGURES, "{tool:#}");
}

#[test]
fn a_directory_has_a_report_for_each_component() {
    let bench = hello();
    bench.component("spin", &spin(1));
    bench.cases("spin/one.json", &json!({"name": "spins", "tool": "run", "expect": {"outcome": "completed"}}));
    // The good plugin of every site is in another directory.
    let document = measured(&bench, &["."], 0);
    let plugins = document["plugins"].as_array().unwrap();
    let found: Vec<_> = plugins.iter().map(|plugin| (&plugin["plugin"], plugin["tools"][0]["case"].as_str())).collect();
    assert_eq!(found, [(&json!("hello"), Some("greets Ann")), (&json!("spin"), Some("spins"))], "{document:#}");
    let ran = bench.run(&["bench", ".", "--cases", "tests"]).ends(2);
    assert!(ran.err.contains("name its file"), "{ran:?}");
    let ran = bench.run(&["bench", "tests"]).ends(2);
    assert!(ran.err.contains("no plugin.toml and no component"), "{ran:?}");
}

#[test]
fn hostile_texts_are_encoded() {
    let bench = hello();
    bench.cases(
        "hello.json",
        &json!([{"name": HOSTILE, "tool": "greet", "arguments": {"name": HOSTILE},
        "expect": {"outcome": "completed"}}]),
    );
    for json in [&[][..], &["--json"]] {
        let ran = bench.run(&[&["bench", "hello.wasm"], &SHORT[..], json].concat()).ends(0);
        assert!(ran.out.contains("hostile"), "{ran:?}");
        harmless(&(ran.out + &ran.err));
    }
    // The reason of a failure comes from the plugin, and the name of a file from anyone.
    bench.component("bad", &guest("name-injection", &Manifest::of("bad")));
    bench.component(HOSTILE, &built_guest("hello"));
    let file = format!("{HOSTILE}.wasm");
    for line in
        [&["bad.wasm", "--tool", "run", "--arguments", "{}"][..], &[&file], &["hello.wasm", "--compare", HOSTILE]]
    {
        for json in [&[][..], &["--json"]] {
            let ran = bench.run(&[&["bench"], line, &SHORT, json].concat());
            assert!(ran.code.is_some_and(|code| code > 0), "{ran:?}");
            harmless(&(ran.out + &ran.err));
        }
    }
}

#[test]
fn a_malformed_saved_run_is_refused_before_anything_is_measured() {
    let bench = hello();
    let run = r#"{"version":7,"host_version":"1","machine":{"processor":"p","cores":1,"system":"s"},"plugins":[]}"#;
    for (text, words) in [("", "EOF"), ("[]", "not a run"), ("{}", "missing field"), (run, "its version is 7")] {
        fs::write(bench.site.path("saved.json"), text).unwrap();
        let ran = bench.run(&["bench", "hello.wasm", "--compare", "saved.json"]).ends(2);
        assert!(ran.out.is_empty() && ran.err.contains(words) && ran.err.contains("--save"), "{text}: {ran:?}");
    }
    for factor in ["0.5", "NaN", "inf", "x"] {
        bench.run(&["bench", "hello.wasm", "--compare", "saved.json", "--fail-above", factor]).ends(2);
    }
    bench.run(&["bench", "hello.wasm", "--fail-above", "2"]).ends(2);
    let ran = bench.run(&["bench", "hello.wasm", "--save", "no/such/place.json"]).ends(2);
    assert!(ran.out.is_empty() && ran.err.contains("does not exist"), "{ran:?}");
}

#[test]
fn an_interrupt_ends_the_run_and_leaves_no_files() {
    let bench = hello();
    let temporary = bench.site.directory("temporary");
    let mut command = bench.command();
    command.args(["bench", "hello.wasm", "--seconds", "600", "--json"]).env("TMPDIR", &temporary);
    let child = command.spawn().unwrap();
    eventually("the run makes its files", || temporary.read_dir().unwrap().next().map(drop));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let ran = portcullis_tests::Ran::from(child.wait_with_output().unwrap()).ends(2);
    assert_eq!(ran.document()["error"]["code"], "interrupted", "{ran:?}");
    assert_eq!(temporary.read_dir().unwrap().count(), 0);
}
