//! Rules for paths that apply to every tool.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use crate::folder::Folder;

/// Returns a call of every tool with this path.
fn calls(path: &str) -> [(&'static str, Value); 8] {
    [
        ("read", json!({ "path": path })),
        ("write", json!({ "path": path, "content": "new" })),
        ("edit", json!({ "path": path, "edits": [{ "old": "old", "new": "new" }] })),
        ("patch", json!({ "patch": format!("*** Begin Patch\n*** Add File: {path}\n+new\n*** End Patch") })),
        ("patch", json!({ "patch": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch") })),
        ("list", json!({ "path": path })),
        ("glob", json!({ "path": path, "pattern": "*" })),
        ("grep", json!({ "path": path, "regex": "." })),
    ]
}

#[test]
fn absolute_paths_and_paths_out_of_the_workspace_are_refused() {
    for path in ["..", "../x", "a/../../x", "/workspace/../x", "/workspace/a/x", "/etc/passwd", "/"] {
        for (tool, arguments) in calls(path) {
            let failure = Folder::with(&[("a/x", "old")]).call(tool, arguments).unwrap_err();
            let Failure::InvalidArguments(text) = &failure else { panic!("{tool} {path}: {failure:?}") };
            assert!(text.contains("workspace"), "{tool} {path}: {text}");
        }
    }
}

#[test]
fn a_path_with_odd_characters_is_refused() {
    for path in ["a\\x", "a\nx", "a\0x", "\u{1b}[31m"] {
        for (tool, arguments) in calls(path) {
            let failure = Folder::with(&[("a/x", "old")]).call(tool, arguments).unwrap_err();
            assert!(matches!(failure, Failure::InvalidArguments(_)), "{tool} {path:?}: {failure:?}");
        }
    }
}

#[test]
fn other_spellings_of_a_path_are_normalized() {
    for path in ["a/x", "./a/x", "a//x", "a/../a/x", "a/./x"] {
        let answer = Folder::with(&[("a/x", "old")]).call("read", json!({ "path": path })).unwrap();
        assert_eq!(answer.metadata["path"], "a/x", "{path}");
    }
}

#[test]
fn a_symbolic_link_is_refused_and_its_target_named() {
    let links = [
        ("link", "target.txt", "use `target.txt`"),
        ("a/link", "../target.txt", "use `target.txt`"),
        ("a/out", "../../secret", "out of the workspace"),
        ("absolute", "/etc/passwd", "out of the workspace"),
    ];
    for (path, target, told) in links {
        let folder = Folder::with(&[("target.txt", "old\n"), ("a/", "")]);
        folder.link(path, target);
        for (tool, arguments) in calls(path) {
            let failure = folder.call(tool, arguments).unwrap_err();
            assert!(failure.text().contains(told), "{tool} {path}: {failure:?}");
        }
        assert_eq!(folder.get("target.txt"), "old\n");
    }
}

#[test]
fn a_path_through_a_linked_directory_is_refused() {
    let folder = Folder::with(&[("real/x", "old")]);
    folder.link("link", "real");
    for (tool, arguments) in calls("link/x") {
        let failure = folder.call(tool, arguments).unwrap_err();
        assert!(failure.text().contains("`link` is a symbolic link"), "{tool}: {failure:?}");
    }
    assert_eq!(folder.get("real/x"), "old");
}

#[test]
fn a_missing_path_names_its_neighbours() {
    let cases = [
        ("src/mian.rs", "did you mean `src/main.rs`?"),
        ("scr/main.rs", "`.` has .github/, README.md, src/"),
        ("src/zzz", "`src` has lib.rs, main.rs"),
        ("readme.md", "did you mean `README.md`?"),
    ];
    let folder = Folder::with(&[("src/main.rs", ""), ("src/lib.rs", ""), ("README.md", ""), (".github/", "")]);
    for (path, told) in cases {
        let failure = folder.call("read", json!({ "path": path })).unwrap_err();
        assert!(failure.text().ends_with(told), "{failure:?}");
    }
}
