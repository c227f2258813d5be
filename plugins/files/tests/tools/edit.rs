//! `edit`

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use crate::folder::{Answer, Folder};

#[expect(clippy::needless_pass_by_value, reason = "tests write `json!([...])`")]
fn edit(content: &str, edits: Value) -> (Result<Answer, Failure>, String) {
    let folder = Folder::with(&[("f", content)]);
    let outcome = folder.call("edit", json!({ "path": "f", "edits": edits }));
    assert_eq!(folder.names(""), ["f"], "nothing else is left behind");
    (outcome, folder.get("f"))
}

#[test]
fn text_is_replaced_and_the_rest_kept() {
    let cases = [
        ("one two three", json!([{ "old": "two", "new": "2" }]), "one 2 three"),
        ("a\nb\nc\n", json!([{ "old": "b\n", "new": "" }]), "a\nc\n"),
        ("a\nb\nc", json!([{ "old": "c", "new": "d" }]), "a\nb\nd"),
        ("x x x", json!([{ "old": "x", "new": "y", "replace_all": true }]), "y y y"),
        ("grüße 🦀", json!([{ "old": "🦀", "new": "ß" }]), "grüße ß"),
        ("a b", json!([{ "old": "a", "new": "b c" }, { "old": "b c b", "new": "d" }]), "d"),
        ("\u{feff}bom\n", json!([{ "old": "bom", "new": "mark" }]), "\u{feff}mark\n"),
        ("a$1\\n", json!([{ "old": "$1\\n", "new": "\\0" }]), "a\\0"),
    ];
    for (before, edits, after) in cases {
        let (outcome, content) = edit(before, edits.clone());
        assert!(outcome.is_ok(), "{before:?} {edits}: {outcome:?}");
        assert_eq!(content, after, "{edits}");
    }
}

#[test]
fn line_ends_of_the_file_are_kept() {
    let cases = [
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\r\nb\nc\n", "a\nb", "x\ny", "x\r\ny\nc\n"),
        ("a\r\nb\nc\n", "b\nc", "y\nz", "a\r\ny\nz\n"),
        ("a\r\nb\r\nc\n", "c", "y\nz", "a\r\nb\r\ny\r\nz\n"),
        ("a\r\nb\nc\n", "a\nb\nc", "x\ny", "x\ny\n"),
        ("a\r\nb\nc", "\nb", "", "a\nc"),
        ("a\r\nb\r\nc\nd", "\nd\n", "\nx\ny\n", "a\r\nb\r\nc\nx\ny"),
        ("a\r\nb", "b\n", "c\n", "a\r\nc"),
        ("a\nb", "b\n", "c\nd\n", "a\nc\nd"),
    ];
    for (before, old, new, after) in cases {
        let (outcome, content) = edit(before, json!([{ "old": old, "new": new }]));
        assert!(outcome.is_ok(), "{before:?} {old:?}: {outcome:?}");
        assert_eq!(content, after, "{before:?} {old:?} -> {new:?}");
    }
}

#[test]
fn an_answer_is_a_unified_difference() {
    let before: String = (1..=20).map(|number| format!("{number}\n")).collect();
    let (outcome, _) =
        edit(&before, json!([{ "old": "\n5\n", "new": "\nfive\n5½\n" }, { "old": "20\n", "new": "20" }]));
    let answer = outcome.unwrap();
    let difference = "--- f\n+++ f\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+5½\n 6\n 7\n 8\n\
                      @@ -17,4 +18,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n";
    assert_eq!(answer.text, difference);
    assert_eq!((&answer.metadata["lines_added"], &answer.metadata["lines_removed"]), (&json!(3), &json!(2)));
}

#[test]
fn an_edit_that_cannot_be_made_changes_nothing_and_says_why() {
    let cases = [
        ("x\ny\nx\n", json!([{ "old": "x", "new": "z" }]), "old occurs 2 times, on lines 1, 3"),
        ("aaa", json!([{ "old": "aa", "new": "b" }]), "old occurs 2 times, on lines 1, 1"),
        ("a b", json!([{ "old": "a", "new": "c" }, { "old": "a", "new": "d" }]), "edits[1]: old does not occur"),
        ("a", json!([{ "old": "a", "new": "b" }, { "old": "b", "new": "a" }]), "nothing would change"),
        ("a", json!([{ "old": "", "new": "b" }]), "`edits[0].old` is empty"),
        ("a", json!([{ "old": "a", "new": "a" }]), "old and new are the same"),
        ("a", json!([]), "edits has 0 entries"),
        ("", json!([{ "old": "a", "new": "b" }]), "nothing in the file is similar"),
        ("a\n", json!([{ "old": "     1\ta", "new": "b" }]), "leave out the line numbers"),
        (
            "fn main() {\n    run();\n}\n",
            json!([{ "old": "fn main() {\n\trun();", "new": "x" }]),
            "differ from it in white space only:\n     1\tfn main() {\n     2\t    run();",
        ),
        (
            "let a = 1;\nlet total = count(items);\nlet b = 2;\n",
            json!([{ "old": "let total = count(&items);", "new": "x" }]),
            "the nearest text is:\n     2\tlet total = count(items);",
        ),
    ];
    for (before, edits, message) in cases {
        let (outcome, content) = edit(before, edits.clone());
        let failure = outcome.unwrap_err();
        assert!(failure.text().contains(message), "{before:?} {edits}: {failure:?}");
        assert_eq!(content, before, "{edits}");
    }
}

#[test]
fn at_most_ten_occurrences_are_listed() {
    let (outcome, _) = edit(&"x\n".repeat(10_000), json!([{ "old": "x", "new": "y" }]));
    let text = outcome.unwrap_err().text().to_owned();
    assert!(text.contains("more than 10 times, on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...;"), "{text}");
}

#[test]
fn the_search_for_the_nearest_text_is_bounded() {
    let before = format!("{}\n", "abcdefghij".repeat(50)).repeat(10_000);
    let old = format!("{}\n", "abcdefghiJ".repeat(50)).repeat(1_000);
    let (outcome, _) = edit(&before, json!([{ "old": old, "new": "y" }]));
    assert!(outcome.unwrap_err().text().len() < 5_000);
}

#[test]
fn files_that_are_not_utf_8_text_are_not_edited() {
    for content in [&b"caf\xe9"[..], b"a\0b", b"\x89PNG"] {
        let folder = Folder::new();
        folder.put("f", content);
        let failure = folder.call("edit", json!({ "path": "f", "edits": [{ "old": "a", "new": "b" }] })).unwrap_err();
        assert!(failure.text().contains("`f` is not "), "{failure:?}");
    }
}

#[test]
fn every_occurrence_is_replaced_however_its_lines_end() {
    let cases = [
        ("x\ny\nx\r\ny\r\n", "x\ny", "1\n2", "1\n2\n1\r\n2\r\n", 2),
        ("a\r\nb\nc", "\n", ";", "a;b;c", 2),
        ("a\r\nb\nc\r\n", "\r", "", "a\nb\nc\n", 2),
    ];
    for (before, old, new, after, count) in cases {
        let (outcome, content) = edit(before, json!([{ "old": old, "new": new, "replace_all": true }]));
        assert_eq!(outcome.unwrap().metadata["replacements"], count, "{before:?}");
        assert_eq!(content, after);
    }
}

#[test]
fn occurrences_with_other_line_endings_make_an_edit_ambiguous() {
    let before = "x\ny\nx\r\ny\r\n";
    let (outcome, content) = edit(before, json!([{ "old": "x\ny", "new": "z" }]));
    let failure = outcome.unwrap_err();
    assert!(failure.text().contains("old occurs 2 times, on lines 1, 3"), "{failure}");
    assert_eq!(content, before);
}

#[test]
fn a_large_difference_is_cut_but_written_completely() {
    let (outcome, content) = edit(&"x\n".repeat(100_000), json!([{ "old": "x", "new": "y", "replace_all": true }]));
    let answer = outcome.unwrap();
    assert!(answer.text.len() < 66 * 1024 && answer.text.ends_with("all changes were written)\n"));
    assert_eq!(answer.metadata["replacements"], 100_000);
    assert_eq!(content, "y\n".repeat(100_000));
}

#[test]
fn a_file_of_too_many_lines_is_edited_without_a_difference() {
    let (outcome, content) = edit(&format!("{}end", "\n".repeat(300_000)), json!([{ "old": "end", "new": "END" }]));
    assert_eq!(outcome.unwrap().text, "(`f` has too many lines to show the difference)\n");
    assert!(content.ends_with("\nEND"));
}

#[test]
fn a_large_file_is_refused_before_it_is_read() {
    let (outcome, _) = edit(&"x".repeat(5 * 1024 * 1024), json!([{ "old": "y", "new": "z" }]));
    assert_eq!(outcome.unwrap_err(), Failure::failed("`f` is larger than the 4194304 bytes that fit into one call"));
}
