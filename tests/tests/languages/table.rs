//! The same cases for every language: equal results, or a reason.

use crate::row::{Row, repository, run};
use serde_json::Value;
use std::collections::BTreeSet;

/// How many cases there are at least: fewer would say that a file was not read.
const CASES_LEAST: usize = 85;

/// Runs every case on a row. What is not a gap passes; what is a gap does not, or it is none.
fn conforms(name: &str) {
    let row = Row::of(name);
    let (component, cases) = (row.component(), repository().join("tests/languages/cases"));
    assert!(component.is_file(), "{}: run `cargo xtask test`", component.display());
    let (component, cases) = (component.to_str().unwrap(), cases.to_str().unwrap());
    let ran = run(repository(), &["test", "--json", "--component", component, "--cases", cases]);
    let report = ran.document();
    let results = report["cases"].as_array().expect("a report of cases");
    let gaps = row.gaps();
    let (mut wrong, mut stale): (Vec<String>, BTreeSet<&String>) = (Vec::new(), gaps.keys().collect());
    for case in results {
        let case_name = case["name"].as_str().unwrap();
        let tool = case_name.split(':').next().unwrap_or_default();
        let gap = gaps.keys().find(|key| *key == case_name || *key == tool);
        match (case["ok"] == true, gap) {
            (true, None) => {}
            // A tool that is a gap is one in every case: else the case is named.
            (true, Some(gap)) => wrong.push(format!("{case_name}: it passes, and `{gap}` is said to be a gap")),
            (false, Some(gap)) => {
                stale.remove(gap);
            }
            (false, None) => wrong.push(format!("{case_name}: {}", case["problems"])),
        }
    }
    assert!(results.len() >= CASES_LEAST, "only {} cases ran", results.len());
    assert!(wrong.is_empty(), "{name} differs:\n{}", wrong.join("\n"));
    assert!(stale.is_empty(), "{name} can do what it is said not to: {stale:?}");
}

macro_rules! rows {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            conforms(stringify!($name));
        })*

        #[test]
        fn every_row_is_tried() {
            let tried: Vec<&str> = vec![$(stringify!($name)),*];
            assert_eq!(tried, crate::row::ROWS.map(|row| row.name));
        }
    };
}

rows! { rust quickjs starlingmonkey python go c cpp zig }

#[test]
fn a_case_that_should_fail_does() {
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

/// Go collects garbage while the host is called: what it holds of the host's must be nothing that it follows.
#[test]
fn go_survives_its_own_collector() {
    run(&repository().join("tests/languages/go/soak"), &["test"]).ends(0);
}
