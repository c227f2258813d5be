//! The JSON-Schema-Test-Suite for 2020-12. If the host accepts a group's schema, it must give the suite's verdicts.
//! Groups with a refused schema are in a list, so that a change is noticed. K08.

use crate::input::desk::suite;
use portcullis::plugins::Schema;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Groups whose schema is refused: it refers to something outside, uses another dialect, or recurses without
/// descending.
const REFUSED: &str = include_str!("refused-schemas.txt");

/// The results of one folder.
#[derive(Default)]
struct Found {
    cases: usize,
    refused: Vec<String>,
    different: Vec<String>,
}

impl Found {
    fn of(folder: &str) -> Self {
        let folder = suite("PORTCULLIS_TEST_SCHEMA_SUITE").join("tests/draft2020-12").join(folder);
        let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        let mut found = Self::default();
        files.iter().for_each(|file| found.add(file));
        found
    }

    fn add(&mut self, file: &Path) {
        let name = file.file_name().unwrap().to_string_lossy();
        let groups: Vec<Value> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        for group in groups {
            let title = format!("{name}: {}", group["description"].as_str().unwrap());
            match Schema::of_document(&group["schema"].to_string()) {
                Ok(schema) => self.check(&title, &schema, &group),
                Err(_) => self.refused.push(title),
            }
        }
    }

    fn check(&mut self, title: &str, schema: &Schema, group: &Value) {
        for case in group["tests"].as_array().unwrap() {
            self.cases += 1;
            let mismatches = schema.mismatches(&case["data"]);
            if mismatches.is_empty() != case["valid"].as_bool().unwrap() {
                self.different.push(format!("{title}: {}", case["description"].as_str().unwrap()));
            }
        }
    }
}

/// Compares the refused groups with the list, and prints the correct list.
fn assert_listed(mut found: Vec<String>, prefix: &str) {
    let mut listed: Vec<&str> = REFUSED.lines().filter_map(|line| line.strip_prefix(prefix)).collect();
    listed.sort_unstable();
    found.sort();
    let lines: Vec<String> = found.iter().map(|line| format!("{prefix}{line}")).collect();
    assert_eq!(found, listed, "the list would be:\n{}\n", lines.join("\n"));
}

#[test]
fn required_verdicts_match_the_suite() {
    let found = Found::of("");
    assert_eq!(found.different, [""; 0]);
    assert_listed(found.refused, "required: ");
    assert_eq!(found.cases, 1135, "cases that ran");
}

#[test]
fn optional_verdicts_match_the_suite() {
    let found = Found::of("optional");
    assert_eq!(found.different, [""; 0]);
    assert_listed(found.refused, "optional: ");
}
