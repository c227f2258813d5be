//! Rights beyond the grant: F08, F11 to F13, F32.

use crate::filesystem::lab::{Grant, Lab};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Every operation that changes an existing directory or file.
fn changes() -> Vec<Value> {
    vec![
        json!({"op": "open-at", "path": "file.txt", "flags": ["write"]}),
        json!({"op": "open-at", "path": "file.txt", "flags": ["read", "write"]}),
        json!({"op": "open-at", "path": "file.txt", "flags": ["read", "truncate"]}),
        json!({"op": "open-at", "path": "file.txt", "flags": ["truncate"]}),
        json!({"op": "open-at", "path": "file.txt", "flags": ["read", "create"]}),
        json!({"op": "open-at", "path": "new.txt", "flags": ["read", "create"]}),
        json!({"op": "open-at", "path": "new.txt", "flags": ["write", "create", "exclusive"]}),
        json!({"op": "open-at", "path": "dir", "flags": ["read", "directory", "mutate"]}),
        json!({"op": "open-at", "path": ".", "flags": ["read", "directory", "mutate"]}),
        json!({"op": "create-directory-at", "path": "new"}),
        json!({"op": "remove-directory-at", "path": "dir"}),
        json!({"op": "unlink-file-at", "path": "file.txt"}),
        json!({"op": "unlink-file-at", "path": "good-link"}),
        json!({"op": "rename-at", "path": "file.txt", "to": "renamed.txt"}),
        json!({"op": "rename-at", "path": "dir", "to": "renamed"}),
        json!({"op": "link-at", "path": "file.txt", "to": "linked.txt"}),
        json!({"op": "symlink-at", "path": "new-link", "to": "file.txt"}),
        json!({"op": "set-times-at", "path": "file.txt", "number": 1}),
        json!({"op": "set-times-at", "path": "good-link", "number": 1, "flags": ["follow"]}),
        json!({"op": "set-times-at", "path": "dir", "number": 1}),
        json!({"op": "set-times", "number": 1}),
        json!({"op": "std-write", "path": "/workspace/file.txt", "text": "changed"}),
        json!({"op": "std-write", "path": "/workspace/new.txt", "text": "new"}),
    ]
}

/// Every operation that changes an open file.
fn writes(on: &str) -> Vec<Value> {
    vec![
        json!({"op": "write", "on": on, "text": "changed"}),
        json!({"op": "write", "on": on, "text": "changed", "number": 1 << 20}),
        json!({"op": "write-via-stream", "on": on, "text": "changed"}),
        json!({"op": "append-via-stream", "on": on, "text": "changed"}),
        json!({"op": "set-size", "on": on}),
        json!({"op": "set-size", "on": on, "number": 4096}),
        json!({"op": "set-times", "on": on, "number": 1}),
    ]
}

#[tokio::test]
async fn f11_f12_nothing_changes_without_the_right_to_write() {
    for grant in Grant::WITHOUT_WRITE {
        let lab = Lab::open(grant, "").await;
        lab.refuses(changes()).await;
    }
}

/// Returns the expected result of a read: the text, and whether the end was reached. WASI reports the end when there is
/// no more data.
#[tokio::test]
async fn f12_everything_changes_with_the_right_to_write() {
    for change in changes() {
        let lab = Lab::open(Grant::ReadWrite, "").await;
        fs::remove_file(lab.path("dir/inner.txt")).unwrap();
        fs::remove_file(lab.path("dir/hop")).unwrap();
        let target = change["path"] == "good-link" && change["op"] == "set-times-at";
        if target {
            fs::write(lab.path("dir/inner.txt"), "inside").unwrap();
        }
        let result = lab.take(json!([change])).await.remove(0);
        let refused = ["create", "exclusive"].iter().all(|flag| change["flags"].to_string().contains(flag));
        assert!(result["error"].is_null() || refused && lab.path("new.txt").exists(), "{change}: {result}");
    }
}

/// A file that was opened for reading cannot be written, even if other handles can write.
#[tokio::test]
async fn f13_a_descriptor_has_the_rights_it_was_opened_with() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "").await;
        let before = lab.world();
        let mut steps = vec![json!({"op": "open-at", "path": "file.txt", "keep": "f", "flags": ["read"]})];
        steps.extend(writes("f"));
        let results = lab.take(Value::Array(steps.clone())).await;
        assert!(results[0]["error"].is_null(), "{results:?}");
        for (step, result) in steps.iter().zip(&results).skip(1) {
            let times_alone = grant == Grant::ReadWrite && step["op"] == "set-times";
            assert!(times_alone || result["error"].is_string(), "{grant:?}: {step} returned {result}");
        }
        if grant != Grant::ReadWrite {
            assert_eq!(lab.world(), before);
        }
        assert_eq!(fs::read_to_string(lab.path("file.txt")).unwrap(), "inside");
    }
}

/// A subdirectory of a read-only directory is read-only too, also if it is opened as `.`.
#[tokio::test]
async fn f13_rights_do_not_grow_on_the_way_down() {
    for grant in Grant::WITHOUT_WRITE {
        for way in ["dir", ".", "dir/..", "dir/."] {
            let lab = Lab::open(grant, "").await;
            let before = lab.world();
            let flags = ["read", "directory", "follow"];
            let steps = json!([
                {"op": "open-at", "path": way, "keep": "d", "flags": flags},
                {"op": "open-at", "on": "d", "path": "planted", "flags": ["write", "create"]},
                {"op": "create-directory-at", "on": "d", "path": "planted"},
                {"op": "open-at", "on": "d", "path": ".", "flags": ["directory", "mutate", "write"]},
                {"op": "set-times", "on": "d", "number": 1},
            ]);
            let results = lab.take(steps).await;
            assert!(results[0]["error"].is_null(), "{way}: {results:?}");
            assert!(results[1..].iter().all(|result| result["error"].is_string()), "{way}: {results:?}");
            assert_eq!(lab.world(), before);
        }
    }
}

/// Nothing moves between a read-only grant and a read-write grant, in either direction.
#[tokio::test]
async fn f08_nothing_is_linked_or_moved_between_grants_of_different_rights() {
    let other = "directory.other = { path = \"world/outside\", access = \"read-only\" }";
    let lab = Lab::with(Grant::ReadWrite, "", other).await;
    let (from, to) = (json!("secret.txt"), json!("stolen.txt"));
    lab.refuses(vec![
        json!({"op": "link-at", "on": "other", "path": from, "to": to}),
        json!({"op": "rename-at", "on": "other", "path": from, "to": to}),
        json!({"op": "link-at", "path": "file.txt", "to_on": "other", "to": to}),
        json!({"op": "rename-at", "path": "file.txt", "to_on": "other", "to": to}),
        json!({"op": "rename-at", "path": "dir", "to_on": "other", "to": to}),
        json!({"op": "rename-at", "path": "file.txt", "to_on": "other", "to": "secret.txt"}),
        json!({"op": "open-at", "on": "other", "path": "secret.txt", "flags": ["write"]}),
    ])
    .await;
}

/// A file that a guest creates cannot be executed, nor changed by other users.
#[tokio::test]
async fn f32_a_file_that_a_guest_creates_is_not_executable() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    let results = lab
        .take(json!([
            {"op": "open-at", "path": "made.sh", "flags": ["write", "create"]},
            {"op": "std-write", "path": "/workspace/written.sh", "text": "#!/bin/sh"},
        ]))
        .await;
    assert!(results.iter().all(|result| result["error"].is_null()), "{results:?}");
    for file in ["made.sh", "written.sh"] {
        let mode = fs::metadata(lab.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7113, 0, "{file} has mode {mode:o}");
    }
}
