//! The examples pass their own cases.

use crate::row::{built, repository, run};

fn passes(folder: &str, plugin: &str) {
    let project = repository().join("examples").join(folder);
    let component = built("examples").join(plugin).with_extension("wasm");
    let component = component.to_str().unwrap();
    run(&project, &["test", "--component", component]).ends(0);
    run(&project, &["check", "--deny-lints", component]).ends(0);
}

#[test]
fn csv_answers_questions() {
    passes("csv", "csv");
}

#[test]
fn github_issues_reads_issues() {
    passes("github-issues", "issues");
}

#[test]
fn image_resizer_makes_images_smaller() {
    passes("image-resizer", "images");
}

#[test]
fn markdown_linter_finds_what_is_wrong() {
    passes("markdown-linter", "mdlint");
}

#[test]
fn unit_converter_converts() {
    passes("unit-converter", "units");
}
