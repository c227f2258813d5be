//! `grep`

use portcullis_sdk::prelude::*;

use crate::folder::{Folder, call};

#[test]
fn lines_match_alone() {
    let text = "one\r\ntwo\r\n\r\nfour two\r\nlast";
    let cases = [
        ("two", vec![2, 4]),
        ("^two$", vec![2]),
        ("^$", vec![3]),
        ("t$", vec![5]),
        (r"\s", vec![4]),
        (r"one\s+two", vec![]),
        (r"\n", vec![]),
        ("[^x]*", vec![1, 2, 3, 4, 5]),
        (r"two[^z]*", vec![2, 4]),
        (r"(?s).*four.*", vec![4]),
        (r"\Atwo\z", vec![2]),
        ("", vec![1, 2, 3, 4, 5]),
        (r"\bt", vec![2, 4]),
    ];
    for text in [text.to_owned(), text.replace('\r', ""), format!("{text}\r\n"), text.replace('\r', "") + "\n"] {
        for (regex, lines) in &cases {
            let answer = Folder::with(&[("f", &text)]).call("grep", json!({ "regex": regex })).unwrap();
            let found = answer.text.lines().filter_map(|line| line.split(':').nth(1)?.parse().ok());
            assert_eq!(found.collect::<Vec<i32>>(), *lines, "{regex} in {text:?}:\n{}", answer.text);
        }
    }
}

#[test]
fn context_is_shown_once_and_gaps_are_marked() {
    let text: String = (1..=12).map(|number| format!("{number}\n")).collect();
    let cases = [
        ("^(3|4)$", 1, "f-2- 2\nf:3: 3\nf:4: 4\nf-5- 5\n"),
        ("^(3|5)$", 1, "f-2- 2\nf:3: 3\nf-4- 4\nf:5: 5\nf-6- 6\n"),
        ("^(3|6)$", 1, "f-2- 2\nf:3: 3\nf-4- 4\nf-5- 5\nf:6: 6\nf-7- 7\n"),
        ("^(3|7)$", 1, "f-2- 2\nf:3: 3\nf-4- 4\n--\nf-6- 6\nf:7: 7\nf-8- 8\n"),
        ("^1$", 2, "f:1: 1\nf-2- 2\nf-3- 3\n"),
        ("^12$", 2, "f-10- 10\nf-11- 11\nf:12: 12\n"),
        ("^(3|7)$", 0, "f:3: 3\nf:7: 7\n"),
    ];
    for (regex, context, shown) in cases {
        let answer = Folder::with(&[("f", &text)]).call("grep", json!({ "regex": regex, "context": context })).unwrap();
        assert_eq!(answer.text, shown, "{regex} with {context}");
    }
}

#[test]
fn files_are_grouped_and_counted() {
    let folder = Folder::with(&[("a", "x\ny\nx\n"), ("b/c", "x"), ("d", "y")]);
    let answer = folder.call("grep", json!({ "regex": "x" })).unwrap();
    assert_eq!(answer.text, "a:1: x\na:3: x\n\nb/c:1: x\n");
    assert_eq!(answer.title, "3 matches in 2 files");
    assert_eq!((&answer.metadata["files_searched"], &answer.metadata["more"]), (&json!(3), &json!(false)));
}

#[test]
fn ignored_binary_and_linked_files_are_not_searched() {
    let folder = Folder::with(&[(".gitignore", "skipped\n"), (".git/x", "find"), ("skipped/x", "find"), ("x", "find")]);
    folder.put("binary", b"find\0");
    folder.link("link", "x");
    let answer = folder.call("grep", json!({ "regex": "find" })).unwrap();
    assert_eq!(answer.text, "x:1: find\n");
    assert_eq!(answer.metadata["skipped"], json!({ "binary": 1, "large": 0, "unreadable": 0 }));

    let named = folder.call("grep", json!({ "regex": "find", "path": "skipped" })).unwrap();
    assert_eq!(named.text, "skipped/x:1: find\n");
}

#[test]
fn a_path_may_be_a_file() {
    let folder = Folder::with(&[("a/x", "find"), ("y", "find")]);
    assert_eq!(folder.call("grep", json!({ "regex": "find", "path": "a/x" })).unwrap().text, "a/x:1: find\n");
}

#[test]
fn include_limits_the_files() {
    let folder = Folder::with(&[("a.rs", "x"), ("b.md", "x"), ("c/d.rs", "x")]);
    for (include, files) in [("*.rs", 2), ("*.{rs,md}", 3), ("c/*", 1), ("", 3)] {
        let answer = folder.call("grep", json!({ "regex": "x", "include": include })).unwrap();
        assert_eq!(answer.metadata["files_matching"], files, "{include}");
    }
}

#[test]
fn case_is_ignored_on_request() {
    let folder = Folder::with(&[("f", "Straße\nSTRAẞE\nÜBER\n")]);
    for (regex, insensitive, matches) in
        [("straße", false, 0), ("straße", true, 2), ("über", true, 1), (r"\w{6}", false, 2)]
    {
        let arguments = json!({ "regex": regex, "case_insensitive": insensitive });
        assert_eq!(folder.call("grep", arguments).unwrap().metadata["matches"], matches, "{regex} {insensitive}");
    }
}

#[test]
fn matches_over_the_limit_are_announced() {
    let folder = Folder::with(&[("a", "x\nx\n"), ("b", "x\n")]);
    for (limit, matches, more) in [(1, 1, true), (2, 2, true), (3, 3, false)] {
        let answer = folder.call("grep", json!({ "regex": "x", "limit": limit })).unwrap();
        assert_eq!((&answer.metadata["matches"], &answer.metadata["more"]), (&json!(matches), &json!(more)));
        assert_eq!(answer.text.contains("there are more"), more, "{}", answer.text);
    }
}

#[test]
fn a_long_line_is_cut_around_its_match() {
    let text = format!("{}needle{}", "ü".repeat(100_000), "x".repeat(100_000));
    let answer = Folder::with(&[("f", &text)]).call("grep", json!({ "regex": "needle" })).unwrap();
    assert!(answer.text.starts_with(&format!("f:1: [...] {}needle", "ü".repeat(100))), "{}", answer.text);
    assert!(answer.text.len() < 1_000 && answer.text.ends_with(" [...]\n"));
}

#[test]
fn a_greedy_expression_over_many_lines_takes_linear_time() {
    let text = "start of a line\n".repeat(100_000);
    let answer = Folder::with(&[("f", &text)]).call("grep", json!({ "regex": r"start[^z]*z|q" })).unwrap();
    assert_eq!(answer.metadata["matches"], 0);
}

#[test]
fn a_wrong_expression_is_refused() {
    for regex in ["(", "(?=x)", r"(x)\1", "x{1000}{1000}{1000}"] {
        let failure = Folder::new().call("grep", json!({ "regex": regex })).unwrap_err();
        assert!(matches!(failure, Failure::InvalidArguments(_)), "{regex}: {failure:?}");
    }
}

#[test]
fn progress_is_reported_and_a_cancelled_call_stops() {
    let folder = Folder::new();
    for number in 0..300 {
        folder.put(&format!("{number}"), b"x");
    }
    let context = folder.context();
    call("grep", json!({ "regex": "y" }), &context).unwrap();
    assert_eq!(context.reported(), [Progress::title("Searched 256 files")]);

    let context = folder.context().cancelled_after(100);
    assert_eq!(call("grep", json!({ "regex": "y" }), &context).unwrap_err(), Failure::Cancelled);
}
