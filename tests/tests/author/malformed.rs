//! Invalid cases, empty runs and files that are not plugins are reported with their location, and never pass.

use crate::author::bench::Bench;
use portcullis_tests::{Manifest, guest};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

#[test]
fn a_malformed_file_is_reported_with_its_location() {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good")));
    let good = r#"{"name":"first","tool":"run","expect":{"outcome":"completed"}}"#;
    for (text, says) in [
        ("{", "a.json: EOF while parsing"),
        (r#"{"name":"x"}"#, "the case `x`: a case has either `tool` and `expect`, or `steps`"),
        (
            r#"{"name":"x","tool":"run","expect":{"outcome":"done"}}"#,
            "there is no outcome `done`: use one of completed",
        ),
        (r#"{"name":"x","tool":"run","expect":{"outcome":"failed","txt":""}}"#, "unknown field `txt`"),
        (r#"{"name":"x","tool":"run","steps":[],"expect":{"outcome":"failed"}}"#, "either `tool`"),
        (r#"{"name":"x","steps":[]}"#, "`steps` is empty"),
        (r#"{"name":"x","tool":"run","decision":"maybe","expect":{"outcome":"failed"}}"#, "unknown variant `maybe`"),
        (r#"{"tool":"run","expect":{"outcome":"failed"}}"#, "the case `number 1`: missing field `name`"),
        (
            r#"{"name":"x","tool":"run","arguments":{},"arguments_text":"","expect":{"outcome":"failed"}}"#,
            "use either `arguments` or `arguments_text`",
        ),
        (
            r#"{"name":"x","grants":{"directory":{"w":{"files":{"../a":""}}}},"tool":"run",
                "expect":{"outcome":"failed"}}"#,
            "`../a` is not a plain relative path",
        ),
    ] {
        bench.file("a.json", text);
        let ran = bench.test("good", &[]).ends(2);
        assert!(ran.err.contains(says) && ran.err.contains("a.json"), "{says}: {}", ran.err);
    }
    bench.file("a.json", &format!("[{good},\n{{\"name\":\"second\",\"tool\":\"run\",\"expekt\":1}}]"));
    let told = bench.test("good", &[]).ends(2).err;
    assert!(told.contains("the case `second`: unknown field `expekt`") && told.contains("at line 2 column"), "{told}");
}

/// Errors in a case's grants name the case, not the policy that is generated from it.
#[test]
fn invalid_grants_are_reported_by_their_member() {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good")));
    for (member, value, says) in [
        ("limits", json!({"tyme": "1 s"}), "`limits.tyme`: unknown key; the known keys are `memory`"),
        ("limits", json!({"time": "1 parsec"}), "`limits.time`: expected a duration; write a duration such as"),
        ("limits", json!({"time": {}}), "`limits.time` must be a string such as \"2 s\", or a whole number"),
        ("limits", json!({"memory": 1.5}), "`limits.memory` must be a string"),
        ("grants", json!({"store": {"A": "session"}}), "\"A\" is not a dependency's key"),
        ("grants", json!({"http": {"a b": {}}}), "\"a b\" is not a dependency's key"),
        ("grants", json!({"config": {"": "x"}}), "`grants.config.\"\"`: invalid key of a setting"),
        ("grants", json!({"http": {"web": {"methods": ["get it"]}}}), "`grants.http.web.methods`: invalid HTTP method"),
        ("grants", json!({"store": {"a": "plugin"}, "directory": {"a": {}}}), "`grants.store.a`: the same key"),
        ("answer", json!("yes"), "unknown variant `yes`, expected `approve` or `reject`"),
        ("answer", json!(true), "expected `approve` or `reject`, or a list of them"),
    ] {
        let mut case = json!({"name": "x", "tool": "run", "expect": {"outcome": "completed"}});
        case[member] = value;
        bench.cases("a.json", &case);
        let told = bench.test("good", &[]).ends(2).err;
        assert!(told.contains("tests/a.json: the case `x`: ") && told.contains(says), "{says}: {told}");
        assert!(!told.contains("policy"), "{told}");
    }
}

/// The directory of a key is emptied before a case. If a key could be a path, that could delete the user's files.
#[test]
fn a_directory_key_cannot_be_a_path() {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good").directory("workspace", true)));
    let mine = bench.site.directory("home/mine");
    fs::write(mine.join("letter.txt"), "dear").unwrap();
    let deep = format!("../../..{}", mine.display());
    for key in [mine.to_str().unwrap(), "../..", "..", ".", "", "a/b", "/", &deep] {
        let grants = json!({"directory": {key: {"access": "read-write"}}});
        bench.cases(
            "a.json",
            &json!({"name": "x", "tool": "run", "grants": grants, "expect": {"outcome": "completed"}}),
        );
        let told = bench.test("good", &[]).ends(2).err;
        assert!(told.contains("is not a dependency's key"), "{key}: {told}");
        assert_eq!(fs::read_to_string(mine.join("letter.txt")).unwrap(), "dear", "{key}");
    }
}

/// Null means "none" where a value is optional. Elsewhere it would compare nothing, so it is an error.
#[test]
fn null_is_not_an_expectation_that_always_holds() {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good")));
    let case = || json!({"name": "x", "tool": "run", "expect": {"outcome": "completed"}});
    for member in [
        "code",
        "text",
        "text_bytes",
        "text_sha256",
        "parts",
        "contains",
        "message",
        "log",
        "progress",
        "files",
        "requests",
    ] {
        let mut case = case();
        case["expect"][member] = Value::Null;
        bench.cases("a.json", &case);
        let told = bench.test("good", &[]).ends(2).err;
        assert!(told.contains("the case `x`: invalid type: null"), "{member}: {told}");
    }
    for member in
        ["grants", "decision", "answer", "cancel_after_ms", "limits", "message", "agent", "arguments_text", "steps"]
    {
        let mut case = case();
        case[member] = Value::Null;
        bench.cases("a.json", &case);
        let told = bench.test("good", &[]).ends(2).err;
        assert!(told.contains("the case `x`: "), "{member}: {told}");
    }
    let mut sent = case();
    sent["arguments"] = Value::Null;
    sent["expect"] = json!({"outcome": "invalid", "code": "malformed-arguments", "title": null, "metadata": null});
    bench.cases("a.json", &sent);
    bench.passes("good");
}

#[test]
fn a_file_name_need_not_be_utf8() {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good")));
    let file = bench.site.directory("tests").join(OsStr::from_bytes(b"\xff.json"));
    fs::write(file, r#"{"name":"x","tool":"run","expect":{"outcome":"completed"}}"#).unwrap();
    assert_eq!(bench.passes("good")["cases"][0]["file"], "./tests/\u{fffd}.json");
}

#[test]
fn a_run_without_a_case_fails() {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good")));
    assert!(bench.test("good", &[]).ends(2).err.contains("tests"));
    bench.file("readme.txt", "no case");
    assert!(bench.test("good", &[]).ends(2).err.contains("contains no case"));
    bench.file("a.json", "[]");
    assert!(bench.test("good", &[]).ends(2).err.contains("contains no case"));
    bench.file("a.json", r#"{"name":"first","tool":"run","expect":{"outcome":"completed"}}"#);
    bench.test("good", &[]).ends(0);
    assert!(bench.test("good", &["--only", "second"]).ends(2).err.contains("whose name contains `second`"));
}

#[test]
fn an_invalid_plugin_or_an_unknown_dependency_is_reported() {
    let bench = Bench::new();
    bench.file("a.json", r#"{"name":"first","tool":"run","expect":{"outcome":"completed"}}"#);
    bench.component("broken", b"no component");
    let told = bench.test("broken", &[]).ends(7).err;
    assert!(told.contains("the host refuses this plugin"), "{told}");
    bench.component("good", &guest("good", &Manifest::of("good")));
    bench.file(
        "a.json",
        r#"{"name":"x","tool":"run","grants":{"store":{"notes":"session"}},"expect":{"outcome":"completed"}}"#,
    );
    let failed = bench.fails("good");
    assert!(failed[0].contains("the case cannot be set up") && failed[0].contains("`notes`"), "{failed:?}");
    let no_project = bench.run(&["test"]).ends(2).err;
    assert!(no_project.contains("is not a project"), "{no_project}");
}
