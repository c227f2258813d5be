//! Tests the rules without a host.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use mdlint_plugin::PLUGIN;
use portcullis_sdk::prelude::json;
use portcullis_sdk::testing::{Context, call, problems};
use portcullis_sdk::{Failure, Output};

/// Returns the line and rule of each finding.
fn findings(text: &str) -> Vec<(u64, String)> {
    let success = call(&PLUGIN, "lint", json!({ "text": text, "line_length": 40 }), &Context::new()).unwrap();
    let Output::Json(report) = success.output else { panic!("the output is JSON") };
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|it| (it["line"].as_u64().unwrap(), it["rule"].as_str().unwrap().to_owned())).collect()
}

#[track_caller]
fn finds(text: &str, expected: &[(u64, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(line, rule)| (*line, (*rule).to_owned())).collect();
    assert_eq!(findings(text), expected, "{text}");
}

#[test]
fn the_manifest_has_no_problems() {
    assert_eq!(problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn headings_must_not_skip_a_level() {
    finds("# One\n\n## Two\n\n### Three\n\n## Two\n", &[]);
    finds("# One\n\n### Three\n", &[(3, "heading-order")]);
    finds("# One\n\n# Another\n", &[(3, "single-title")]);
    // With a byte order mark, which is not part of the text.
    finds("\u{feff}# One\n\n# Another\n", &[(3, "single-title")]);
    finds("\u{feff}# One\n\n### Three\n", &[(3, "heading-order")]);
}

#[test]
fn a_bare_url_is_found_only_in_prose() {
    finds("See https://a.example/x and http://b.example.\n", &[(1, "bare-url"), (1, "bare-url"), (1, "line-length")]);
    finds("See <https://a.example>, [it](https://b.example), `https://c`.\n", &[(1, "line-length")]);
    finds("```text\nhttps://a.example\n```\n", &[]);
}

#[test]
fn a_fence_must_name_its_language() {
    finds("```\nx\n```\n", &[(1, "code-language")]);
    finds("```rust\nx\n```\n\n    indented\n", &[]);
}

#[test]
fn an_empty_link_is_found() {
    finds("[here]() and [there](#)\n", &[(1, "empty-link"), (1, "empty-link")]);
}

#[test]
fn trailing_spaces_are_found() {
    finds(
        "one \ntwo  \nthree\t\n   \nfour\n",
        &[(1, "trailing-spaces"), (3, "trailing-spaces"), (4, "trailing-spaces")],
    );
    finds("```text\nx   \n```\n", &[]);
}

#[test]
fn a_line_that_cannot_be_broken_is_not_too_long() {
    let (words, word) = ("word ".repeat(10), "x".repeat(60));
    finds(&format!("{}\n\n{word}\n", words.trim_end()), &[(1, "line-length")]);
    for marker in ["-", "*", "+", "12.", "3)", ">", "> -", "##"] {
        finds(&format!("# One\n\n{marker} <https://a.example/{word}>\n"), &[]);
        finds(&format!("# One\n\n{marker} {}\n", words.trim_end()), &[(3, "line-length")]);
    }
    finds(&format!("| a | b |\n|---|---|\n| {} | c |\n", words.trim_end()), &[]);
}

#[test]
fn front_matter_is_not_a_heading() {
    finds("---\ntitle: https://a.example\n---\n\n# One\n", &[]);
}

#[test]
fn only_the_requested_rules_are_checked() {
    let arguments = json!({ "text": "```\nx\n```\nhttps://a.example\n", "rules": ["bare-url"] });
    let success = call(&PLUGIN, "lint", arguments, &Context::new()).unwrap();
    assert_eq!(success.title.as_deref(), Some("Checked the text: one finding"));
}

#[test]
fn lint_requires_exactly_one_source() {
    for arguments in [json!({}), json!({ "text": "", "path": "a.md" })] {
        assert!(matches!(call(&PLUGIN, "lint", arguments, &Context::new()), Err(Failure::InvalidArguments(_))));
    }
}
