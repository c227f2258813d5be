//! What a call can do at the path to which its grant is narrowed, and its quotas.

use crate::filesystem::lab::{Grant, Lab};
use crate::filesystem::narrow::{furnish, house};
use serde_json::json;
use std::fs;

/// Everything that a granted directory allows works at the narrowed path, also if the path does not exist yet.
#[tokio::test]
async fn everything_works_at_the_narrowed_path() {
    let lab = house(Grant::ReadWrite, "house/room").await;
    let outside = |lab: &Lab| {
        let mut world = lab.world();
        world.retain(|path, _| !path.starts_with(b"grant/house/room"));
        world
    };
    let before = outside(&lab);
    let results = lab
        .take(json!([
            {"op": "open-at", "path": "house/room", "keep": "d", "flags": ["read", "directory"]},
            {"op": "read-directory", "on": "d"},
            {"op": "open-at", "on": "d", "path": "made.txt", "keep": "f", "flags": ["read", "write", "create"]},
            {"op": "write", "on": "f", "text": "made"},
            {"op": "create-directory-at", "path": "house/room/made"},
            {"op": "rename-at", "path": "house/room/made.txt", "to": "house/room/made/moved.txt"},
            {"op": "link-at", "path": "house/room/made/moved.txt", "to_on": "d", "to": "linked.txt"},
            {"op": "symlink-at", "path": "house/room/soft", "to": "note.txt"},
            {"op": "readlink-at", "path": "house/room/soft"},
            {"op": "unlink-file-at", "path": "house/room/soft"},
            {"op": "set-times-at", "path": "house/room/note.txt", "number": 1},
            {"op": "metadata-hash-at", "path": "house/room"},
            {"op": "is-same-object", "on": "d", "to_on": "d"},
            {"op": "get-type", "on": "d"},
            {"op": "get-flags", "on": "d"},
            {"op": "sync", "on": "d"},
            {"op": "stat"},
            {"op": "stat-at", "path": "house"},
            {"op": "open-at", "path": "house", "keep": "w", "flags": ["read", "directory"]},
            {"op": "stat-at", "on": "w", "path": "room/linked.txt"},
            {"op": "std-list", "path": "/workspace/house/room"},
            {"op": "std-write", "path": "/workspace/house/room/std.txt", "text": "made"},
        ]))
        .await;
    assert!(results.iter().all(|result| result["error"].is_null()), "{results:#?}");
    assert_eq!(outside(&lab), before);
    assert_eq!(fs::read_to_string(lab.path("house/room/linked.txt")).unwrap(), "made");
}

/// A call can remove the narrowed path and create it again.
#[tokio::test]
async fn the_narrowed_path_can_be_recreated() {
    let lab = house(Grant::ReadWrite, "house/new").await;
    let results = lab
        .take(json!([
            {"op": "create-directory-at", "path": "house/new"},
            {"op": "std-write", "path": "/workspace/house/new/a.txt", "text": "old"},
            {"op": "unlink-file-at", "path": "house/new/a.txt"},
            {"op": "remove-directory-at", "path": "house/new"},
            {"op": "create-directory-at", "path": "house/new"},
            {"op": "std-write", "path": "/workspace/house/new/a.txt", "text": "new"},
            {"op": "std-read", "path": "/workspace/house/new/a.txt"},
        ]))
        .await;
    assert!(results.iter().all(|result| result["error"].is_null()), "{results:#?}");
    assert_eq!(fs::read_to_string(lab.path("house/new/a.txt")).unwrap(), "new");
}

/// The parents of a path that does not exist can be created, and nothing else. A file there can be replaced, emptied
/// and removed.
#[tokio::test]
async fn a_missing_file_is_created_with_its_parents() {
    let lab = house(Grant::ReadWrite, "house/new/deep/file.txt").await;
    let results = lab
        .take(json!([
            {"op": "kind-at", "path": "house/new"},
            {"op": "create-directory-at", "path": "house/new/deep"},
            {"op": "create-directory-at", "path": "house/new"},
            {"op": "create-directory-at", "path": "house/new/deep/"},
            {"op": "create-directory-at", "path": "house/new/other"},
            {"op": "create-directory-at", "path": "house/new/deep"},
            {"op": "std-write", "path": "/workspace/house/new/deep/file.txt", "text": "made"},
            {"op": "std-read", "path": "/workspace/house/new/deep/file.txt"},
            {"op": "remove-directory-at", "path": "house/new"},
            {"op": "unlink-file-at", "path": "house/new/deep/file.txt"},
            {"op": "remove-directory-at", "path": "house/new/deep"},
            {"op": "open-at", "path": "house/new/deep/file.txt", "flags": ["write", "create", "exclusive"]},
        ]))
        .await;
    let came: Vec<&str> = results.iter().map(|result| result["error"].as_str().unwrap_or("ok")).collect();
    let refused = "not-permitted";
    assert_eq!(
        came,
        ["no-entry", "no-entry", "ok", "ok", refused, "exist", "ok", "ok", refused, "ok", refused, "ok"],
        "{results:#?}"
    );
    assert!(lab.path("house/new/deep/file.txt").is_file());
}

/// Quotas on written bytes and created entries apply to a narrowed directory like to a whole one.
#[tokio::test]
async fn quotas_apply_to_a_narrowed_directory() {
    let limits = "written = \"64 KiB\"\ncreated-entries = 5";
    let lab = Lab::narrowed(Grant::ReadWrite, limits, "house/new/deep").await;
    furnish(&lab);
    let results = lab
        .take(json!([
            {"op": "create-directory-at", "path": "house/new"},
            {"op": "create-directory-at", "path": "house/new/deep"},
            {"op": "open-at", "path": "house/new/deep/f", "keep": "f", "flags": ["read", "write", "create"]},
            {"op": "write", "on": "f", "text": "x", "copies": 4096, "times": 100},
            {"op": "set-size", "on": "f", "number": 1 << 20},
            {"op": "write-via-stream", "on": "f", "text": "x", "copies": 4096},
            {"op": "open-at", "path": "house/new/deep/{}", "flags": ["write", "create"], "times": 100},
            {"op": "symlink-at", "path": "house/new/deep/link", "to": "f"},
            {"op": "link-at", "path": "house/new/deep/f", "to": "house/new/deep/hard"},
        ]))
        .await;
    assert_eq!((&results[3]["error"], &results[3]["times"]), (&json!("quota"), &json!(16)), "{results:#?}");
    assert!(results[4]["error"] == "quota" && results[5]["error"].is_string(), "{results:#?}");
    assert_eq!((&results[6]["error"], &results[6]["times"]), (&json!("quota"), &json!(2)), "{results:#?}");
    assert!(results[7]["error"] == "quota" && results[8]["error"] == "quota", "{results:#?}");
    assert_eq!(fs::read_dir(lab.path("house/new/deep")).unwrap().count(), 3);
}

/// Directories that are opened repeatedly, as parents or at the narrowed path, count against the limit and are closed.
#[tokio::test]
async fn handles_of_a_narrowed_directory_are_limited() {
    let lab = house(Grant::ReadWrite, "house/room").await;
    for path in ["house", "house/room", "house/room/sub"] {
        let open = json!([{"op": "open-at", "path": path, "flags": ["read"], "times": 1000}]);
        let results = lab.take(open).await;
        assert_eq!(results[0]["error"], "insufficient-memory", "{path}: {results:?}");
        assert!(results[0]["times"].as_u64().unwrap() <= 64, "{results:?}");
    }
    // Looking up a path keeps nothing open.
    let look = json!([
        {"op": "stat-at", "path": "house/room/note.txt", "times": 20_000},
        {"op": "rename-at", "path": "house/room/note.txt", "to": "stolen", "flags": ["go-on"], "times": 20_000},
    ]);
    let results = lab.take(look).await;
    assert!(results[0]["error"].is_null(), "{results:?}");
    let fds = fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
    assert_eq!(fds.filter(|target| target.starts_with(lab.path("house"))).count(), 0, "descriptors are still open");
}
