//! The same cases for every language: equal results, or a documented gap.

use crate::row::{Row, repository, run};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Minimum number of cases. Fewer would mean that a file was not read.
const CASES_LEAST: usize = 117;
/// More than the limit of an output (256 KiB).
const FILE_BYTES: usize = 1024 * 1024;
/// A little less than the limit of all arguments (1 MiB).
const ARGUMENT_BYTES: usize = 1_000_000;
/// A little less than the limit of an output (256 KiB), with JSON's overhead.
const RESPONSE_BYTES: usize = 250_000;
/// A little less than the limit of a request's body (64 KiB).
const REQUEST_BYTES: usize = 64_000;

/// Returns a text of this length without repetitions.
fn numbered(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 8);
    for number in 0.. {
        write!(text, "{number:07} ").unwrap();
        if text.len() >= bytes {
            break;
        }
    }
    text.truncate(bytes);
    text
}

/// Returns the cases that are too large to store in a file.
fn large() -> Value {
    let web = |method: &str, body: &str| {
        let answer =
            json!({ "method": method, "path": "/l", "headers": { "content-type": "text/plain" }, "body": body });
        json!({ "http": { "web": { "answers": [answer] } } })
    };
    let workspace =
        |access: &str, files: Value| json!({ "directory": { "workspace": { "access": access, "files": files } } });
    let (file, argument) = (numbered(FILE_BYTES), numbered(ARGUMENT_BYTES));
    let (response, request) = (numbered(RESPONSE_BYTES), numbered(REQUEST_BYTES));
    let digest: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
    json!([
        {
            "name": "measure: a large argument", "tool": "measure",
            "arguments": { "text": "é".repeat(ARGUMENT_BYTES / 2) },
            "expect": { "outcome": "completed", "json": { "bytes": ARGUMENT_BYTES, "characters": ARGUMENT_BYTES / 2 } },
        },
        {
            "name": "read: a large file", "tool": "read", "arguments": { "path": "l" },
            "grants": workspace("read-only", json!({ "l": file })),
            "expect": { "outcome": "completed", "text_bytes": FILE_BYTES, "text_sha256": digest },
        },
        {
            "name": "write: a large file", "tool": "write", "arguments": { "path": "l", "text": argument },
            "grants": workspace("read-write", json!({})),
            "expect": { "outcome": "completed", "files": { "workspace/l": argument } },
        },
        {
            "name": "fetch: a large body", "tool": "fetch", "arguments": { "url": "${http.web}/l" },
            "grants": web("GET", &response),
            "expect": { "outcome": "completed", "json": { "status": 200, "type": "text/plain", "body": response } },
        },
        {
            "name": "fetch: a large body is sent", "tool": "fetch",
            "arguments": { "url": "${http.web}/l", "method": "POST", "body": request },
            "grants": web("POST", "a"),
            "expect": {
                "outcome": "completed", "json": { "status": 200, "type": "text/plain", "body": "a" },
                "requests": [{ "method": "POST", "path": "/l", "body": request }],
            },
        },
    ])
}

/// Runs the cases of a folder or a file. Returns the report of each.
fn results(component: &Path, cases: &Path) -> Vec<Value> {
    let (component, cases) = (component.to_str().unwrap(), cases.to_str().unwrap());
    let ran = run(repository(), &["test", "--json", "--component", component, "--cases", cases]);
    ran.document()["cases"].as_array().expect("a report of cases").clone()
}

/// Runs every case on a row. A case must pass, or fail as its gap says.
fn conforms(name: &str) {
    let row = Row::of(name);
    let component = row.component();
    assert!(component.is_file(), "{}: run `cargo xtask test`", component.display());
    row.inspected();
    let mut cases = results(&component, &repository().join("tests/languages/cases"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.json");
    std::fs::write(&file, large().to_string()).unwrap();
    cases.extend(results(&component, &file));
    let gaps = row.gaps();
    let (mut wrong, mut stale): (Vec<String>, BTreeSet<&String>) = (Vec::new(), gaps.keys().collect());
    for case in &cases {
        let case_name = case["name"].as_str().unwrap();
        let tool = case_name.split(':').next().unwrap_or_default();
        let gap = gaps.keys().find(|key| *key == case_name || *key == tool);
        match (case["ok"] == true, gap) {
            (true, None) => {}
            // If a tool is a gap, all its cases must fail. Otherwise the gap must name the case.
            (true, Some(gap)) => wrong.push(format!("{case_name}: it passes although `{gap}` is listed as a gap")),
            (false, Some(gap)) => {
                stale.remove(gap);
                if !gaps[gap].tells_of(case) {
                    let (code, problems) = (&case["code"], &case["problems"]);
                    wrong.push(format!("{case_name}: {:?} is said, and it ends {code}: {problems}", gaps[gap]));
                }
            }
            (false, None) => wrong.push(format!("{case_name}: {}", case["problems"])),
        }
    }
    assert!(cases.len() >= CASES_LEAST, "only {} cases ran", cases.len());
    assert!(wrong.is_empty(), "{name} differs:\n{}", wrong.join("\n"));
    assert!(stale.is_empty(), "{name} passes cases that are listed as gaps: {stale:?}");
}

macro_rules! rows {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            conforms(stringify!($name));
        })*

        #[test]
        fn every_row_is_tested() {
            let tried: Vec<&str> = vec![$(stringify!($name)),*];
            assert_eq!(tried, crate::row::ROWS.map(|row| row.name));
        }
    };
}

rows! { rust quickjs starlingmonkey python go c cpp zig }

#[test]
fn a_wrong_expectation_fails() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = r#"[{"name": "wrong", "tool": "add", "arguments": {"a": 2, "b": 2},
        "expect": {"outcome": "completed", "json": {"sum": 5, "kind": "exact"}}}]"#;
    std::fs::write(folder.path().join("wrong.json"), wrong).unwrap();
    let (component, cases) = (Row::of("rust").component(), folder.path().to_str().unwrap());
    let ran = run(folder.path(), &["test", "--json", "--component", component.to_str().unwrap(), "--cases", cases]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let report: Value = ran.document();
    assert_eq!(report["failed"], 1);
    assert!(report["cases"][0]["problems"].to_string().contains('4'), "{report}");
}

/// How an SDK handles a tool that requests too much or something invalid: one plugin per SDK, with its own cases.
macro_rules! sdks_hold_at_their_edges {
    ($($language:ident)*) => {
        mod sdks_hold_at_their_edges {
            use crate::row::{repository, run};

            $(#[test]
            fn $language() {
                let project = repository().join("tests/languages").join(stringify!($language)).join("edges");
                run(&project, &["test"]).ends(0);
            })*
        }
    };
}

sdks_hold_at_their_edges! { c cpp zig go }

/// Go's garbage collector runs during host calls. It must not follow the SDK's references to host memory.
#[test]
fn go_survives_garbage_collection_during_host_calls() {
    run(&repository().join("tests/languages/go/soak"), &["test"]).ends(0);
}
