//! `glob`

use portcullis_sdk::prelude::*;

use crate::folder::{Folder, call};

fn project() -> Folder {
    let folder = Folder::with(&[
        (".gitignore", "/target\n*.log\n"),
        (".git/config", ""),
        (".github/ci.yml", ""),
        ("src/main.rs", ""),
        ("src/deep/er/lib.rs", ""),
        ("src/.gitignore", "!kept.log\n"),
        ("src/kept.log", ""),
        ("target/out.rs", ""),
        ("top.rs", ""),
        ("top.log", ""),
    ]);
    folder.link("link.rs", "top.rs");
    folder.link("linked", "src");
    folder
}

#[test]
fn patterns_match_paths() {
    let cases = [
        (".", "*.rs", vec!["src/deep/er/lib.rs", "src/main.rs", "top.rs"]),
        (".", "**/*.rs", vec!["src/deep/er/lib.rs", "src/main.rs", "top.rs"]),
        (".", "./src/*.rs", vec!["src/main.rs"]),
        (".", "src/**", vec!["src/.gitignore", "src/deep/er/lib.rs", "src/kept.log", "src/main.rs"]),
        (".", "**/*.{yml,log}", vec![".github/ci.yml", "src/kept.log"]),
        ("src", "*.rs", vec!["src/deep/er/lib.rs", "src/main.rs"]),
        ("src", "deep/**/*.rs", vec!["src/deep/er/lib.rs"]),
        ("target", "*", vec!["target/out.rs"]),
    ];
    let folder = project();
    for (path, pattern, files) in cases {
        let answer = folder.call("glob", json!({ "path": path, "pattern": pattern })).unwrap();
        assert_eq!(answer.text.lines().collect::<Vec<_>>(), files, "{path} {pattern}");
    }
}

#[test]
fn gitignore_rules_of_parent_directories_apply() {
    let folder =
        Folder::with(&[(".gitignore", "*.log\n/a/skipped\n"), ("a/x.log", ""), ("a/x", ""), ("a/skipped/y", "")]);
    assert_eq!(folder.call("glob", json!({ "path": "a", "pattern": "**" })).unwrap().text, "a/x\n");
}

#[test]
fn paths_over_the_limit_are_counted() {
    let answer = project().call("glob", json!({ "pattern": "*.rs", "limit": 1 })).unwrap();
    assert_eq!(answer.text, "src/deep/er/lib.rs\n(2 paths left out; raise limit, or narrow the pattern)\n");
    assert_eq!(answer.metadata["files"], 3);
}

#[test]
fn no_match_is_reported() {
    assert_eq!(project().call("glob", json!({ "pattern": "*.py" })).unwrap().text, "(no file matches `*.py`)\n");
}

#[test]
fn a_broken_pattern_is_refused() {
    let failure = project().call("glob", json!({ "pattern": "a{b" })).unwrap_err();
    assert!(matches!(failure, Failure::InvalidArguments(_)), "{failure:?}");
}

#[test]
fn a_cancelled_call_stops() {
    let folder = project();
    let context = folder.context().cancelled();
    assert_eq!(call("glob", json!({ "pattern": "*" }), &context).unwrap_err(), Failure::Cancelled);
}
