//! A preview shows exactly what the call changes.

use portcullis_sdk::prelude::*;
use portcullis_sdk::testing::{self, problems};

use crate::folder::Folder;
use portcullis_plugin_files::PLUGIN;

#[test]
fn a_preview_matches_the_effect_of_the_call() {
    for (tool, arguments) in [
        ("write", json!({ "path": "./a//f", "content": "new\n" })),
        ("write", json!({ "path": "b/c", "content": "" })),
        ("edit", json!({ "path": "a/f", "edits": [{ "old": "one", "new": "1", "replace_all": true }] })),
        ("edit", json!({ "path": "a/crlf", "edits": [{ "old": "one\ntwo", "new": "1" }] })),
        (
            "edit",
            json!({ "path": "a/f", "edits": [{ "old": "one\n", "new": "1\n" }, { "old": "1\ntwo", "new": "2" }] }),
        ),
    ] {
        let folder = Folder::with(&[("a/f", "one\ntwo\n"), ("a/crlf", "one\r\ntwo\r\n")]);
        let changes = testing::preview(&PLUGIN, tool, arguments.clone(), &folder.context()).unwrap();
        let [FileChange { directory, path, content: Some(content) }] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!(directory, "workspace");
        assert_eq!(folder.get("a/f"), "one\ntwo\n", "a preview changes nothing");
        folder.call(tool, arguments).unwrap();
        assert_eq!(folder.get(path), *content);
    }
}

#[test]
fn a_preview_fails_as_the_call_does() {
    let folder = Folder::with(&[("f", "one\none\n"), ("d/", "")]);
    folder.link("l", "f");
    for (tool, arguments) in [
        ("write", json!({ "path": "d", "content": "x" })),
        ("write", json!({ "path": "l", "content": "x" })),
        ("write", json!({ "path": "f/x", "content": "x" })),
        ("write", json!({ "path": "../f", "content": "x" })),
        ("edit", json!({ "path": "none", "edits": [{ "old": "one", "new": "1" }] })),
        ("edit", json!({ "path": "f", "edits": [{ "old": "one", "new": "1" }] })),
        ("edit", json!({ "path": "f", "edits": [{ "old": "two", "new": "1" }] })),
        ("edit", json!({ "path": "f", "edits": [] })),
    ] {
        let preview = testing::preview(&PLUGIN, tool, arguments.clone(), &folder.context()).unwrap_err();
        assert_eq!(folder.call(tool, arguments).unwrap_err(), preview);
    }
}

#[test]
fn the_preview_of_a_read_only_tool_is_empty() {
    let folder = Folder::with(&[("f", "one\n")]);
    let changes = testing::preview(&PLUGIN, "read", json!({ "path": "f" }), &folder.context());
    assert_eq!(changes, Ok(Vec::new()));
    assert_eq!(problems(&PLUGIN), Vec::<String>::new());
}
