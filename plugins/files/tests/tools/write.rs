//! `write`

use portcullis_sdk::prelude::*;

use crate::folder::Folder;

#[test]
fn a_file_has_exactly_the_content() {
    for content in ["", "text", "line\n", "crlf\r\n", "grüße 🦀\n", "\0"] {
        for old in [None, Some("something longer than all of the contents")] {
            let folder = Folder::new();
            if let Some(old) = old {
                folder.put("f", old.as_bytes());
            }
            let answer = folder.call("write", json!({ "path": "f", "content": content })).unwrap();
            assert_eq!(folder.get("f"), content);
            assert_eq!(answer.metadata, json!({ "path": "f", "bytes": content.len(), "created": old.is_none() }));
            assert_eq!(folder.names(""), ["f"], "nothing else is left behind");
        }
    }
}

#[test]
fn missing_parent_directories_are_created() {
    let folder = Folder::new();
    let answer = folder.call("write", json!({ "path": "a/b/c.txt", "content": "x" })).unwrap();
    assert_eq!(folder.get("a/b/c.txt"), "x");
    assert_eq!(answer.text, "Created `a/b/c.txt` (1 byte).");
}

#[test]
fn a_replaced_file_stays_the_same_file() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = Folder::with(&[("run.sh", "old")]);
    let path = folder.path("run.sh");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let status = || path.symlink_metadata().map(|status| (status.ino(), status.mode())).unwrap();
    let before = status();
    folder.call("write", json!({ "path": "run.sh", "content": "new" })).unwrap();
    assert_eq!(status(), before);
}

#[test]
fn only_regular_files_are_overwritten() {
    let folder = Folder::with(&[("d/x", "")]);
    for (path, message) in [("d", "`d` is a directory"), (".", "the workspace itself"), ("d/x/y", "is a file")] {
        let failure = folder.call("write", json!({ "path": path, "content": "x" })).unwrap_err();
        assert!(failure.text().contains(message), "{path}: {failure:?}");
    }
    assert_eq!(folder.names("d"), ["x"]);
}
