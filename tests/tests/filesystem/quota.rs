//! Quotas of a directory that a call may write to: F20 to F25, F33.

use crate::filesystem::lab::{Grant, Lab};
use portcullis::{Code, LimitKind};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Opens a file for writing, as `f`.
fn opened(path: &str) -> Value {
    json!({"op": "open-at", "path": path, "keep": "f", "flags": ["read", "write", "create"]})
}

/// Returns the bytes of all files in the grant: their sizes, and what they use on the disk.
fn size(lab: &Lab) -> (u64, u64) {
    let files = fs::read_dir(lab.path("")).unwrap().map(|entry| fs::symlink_metadata(entry.unwrap().path()).unwrap());
    files
        .filter(fs::Metadata::is_file)
        .fold((0, 0), |(size, stored), stat| (size + stat.len(), stored + stat.blocks() * 512))
}

#[tokio::test]
async fn f20_an_invalid_time_is_an_error() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    for seconds in [0, 1 << 33, (1 << 63) - 1, u64::MAX - 1, u64::MAX] {
        for nanoseconds in [0, 999_999_999, 1_000_000_000, u32::MAX] {
            let time = |op: &str, path: &str| {
                json!({"op": op, "on": if path.is_empty() { "f" } else { "workspace" }, "path": path, "number": seconds,
                       "nanoseconds": nanoseconds})
            };
            let steps = json!([opened("file.txt"), time("set-times", ""), time("set-times-at", "file.txt")]);
            let results = lab.take(steps).await;
            // Excess nanoseconds may be carried over. A time that no clock can show must not be changed into another
            // one.
            let impossible = seconds >= 1 << 63;
            let refused = results[1..].iter().all(|result| result["error"].is_string());
            assert!(refused || !impossible, "{seconds} {nanoseconds}: {results:?}");
        }
    }
}

#[tokio::test]
async fn f21_bytes_over_the_quota_are_not_written() {
    for op in ["write", "write-via-stream", "append-via-stream"] {
        let lab = Lab::open(Grant::ReadWrite, "written = \"1 MiB\"").await;
        let before = size(&lab).0;
        let steps = json!([
            opened("a"),
            {"op": op, "on": "f", "text": "0123456789abcdef", "copies": 4096, "times": 1000},
            opened("b"),
            {"op": op, "on": "f", "text": "0123456789abcdef", "copies": 4096, "times": 1000},
            {"op": "std-write", "path": "/workspace/c", "text": "0123456789abcdef", "copies": 65536},
        ]);
        let results = lab.take(steps).await;
        for result in [&results[1], &results[3]] {
            let error = result["error"].as_str().unwrap_or_default();
            assert!(["quota", "insufficient-space"].contains(&error), "{op}: {results:?}");
        }
        assert!(results[4]["error"].is_string(), "{op}: {results:?}");
        assert!(size(&lab).0 - before <= 1 << 20, "{op}: {} bytes were written", size(&lab).0 - before);
    }
}

/// Overwriting the same block also wears out a disk.
#[tokio::test]
async fn f21_overwriting_counts() {
    let lab = Lab::open(Grant::ReadWrite, "written = \"64 KiB\"").await;
    let steps = json!([opened("a"), {"op": "write", "on": "f", "text": "x", "copies": 4096, "times": 100}]);
    let results = lab.take(steps).await;
    assert_eq!((&results[1]["error"], &results[1]["times"]), (&json!("quota"), &json!(16)), "{results:?}");
}

#[tokio::test]
async fn f22_entries_over_the_quota_are_not_created() {
    for op in ["open-at", "create-directory-at", "symlink-at", "link-at", "std-write"] {
        let lab = Lab::open(Grant::ReadWrite, "created-entries = 10").await;
        let before = fs::read_dir(lab.path("")).unwrap().count();
        let mut step =
            json!({"op": op, "path": "new-{}", "to": "file.txt", "flags": ["write", "create"], "times": 100});
        if op == "std-write" {
            step["path"] = json!("/workspace/new-{}");
        }
        let mut steps = vec![step];
        if op == "link-at" {
            // The new name is the one that must differ.
            steps = (0..100).map(|at| json!({"op": op, "path": "file.txt", "to": format!("new-{at}")})).collect();
        }
        let results = lab.take(Value::Array(steps)).await;
        assert!(results.last().unwrap()["error"].is_string(), "{op}: {results:?}");
        let made = fs::read_dir(lab.path("")).unwrap().count() - before;
        assert_eq!(made, 10, "{op}");
    }
}

/// A failed attempt to create something that exists does not use up the quota of other attempts. A tool that opens an
/// existing file with `create` creates nothing.
#[tokio::test]
async fn f22_opening_an_existing_file_does_not_use_the_quota() {
    let lab = Lab::open(Grant::ReadWrite, "created-entries = 2").await;
    let steps = json!([
        {"op": "open-at", "path": "file.txt", "flags": ["write", "create"], "times": 25},
        {"op": "open-at", "path": "new.txt", "flags": ["write", "create"], "times": 25},
    ]);
    let results = lab.take(steps).await;
    assert!(results.iter().all(|result| result["error"].is_null()), "{results:?}");
}

/// A hole counts like written bytes.
#[tokio::test]
async fn f23_a_hole_counts() {
    let lab = Lab::open(Grant::ReadWrite, "written = \"1 MiB\"").await;
    for number in [2 << 20, 1 << 50, 1 << 62, (1 << 63) - 1, u64::MAX] {
        let steps = json!([
            opened("sparse"),
            {"op": "set-size", "on": "f", "number": number},
            {"op": "write", "on": "f", "text": "x", "number": number},
            {"op": "write-via-stream", "on": "f", "text": "x", "number": number},
        ]);
        let results = lab.take(steps).await;
        assert!(results[1..].iter().all(|result| result["error"].is_string()), "{number}: {results:?}");
        assert_eq!(fs::metadata(lab.path("sparse")).unwrap().len(), 0, "{number}");
    }
}

/// A hole that is made in steps, or by truncating and growing again, counts too.
#[tokio::test]
async fn f23_a_hole_made_in_steps_counts() {
    let lab = Lab::open(Grant::ReadWrite, "written = \"1 MiB\"").await;
    let mut steps = vec![opened("sparse")];
    for _ in 0..8 {
        steps.push(json!({"op": "set-size", "on": "f", "number": 512 << 10}));
        steps.push(json!({"op": "set-size", "on": "f", "number": 0}));
    }
    let results = lab.take(Value::Array(steps)).await;
    let grown = results[1..].iter().step_by(2).filter(|result| result["error"].is_null()).count();
    assert_eq!(grown, 2, "{results:?}");
}

/// A directory with too many entries is not read, because the host would hold all of them in memory.
#[tokio::test]
async fn f24_a_directory_with_too_many_entries_is_not_listed() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "directory-entries = 100").await;
        fs::create_dir(lab.path("many")).unwrap();
        (0..101).for_each(|at| fs::write(lab.path(&format!("many/{at}")), "").unwrap());
        let steps = json!([
            {"op": "open-at", "path": "many", "keep": "d", "flags": ["read", "directory"]},
            {"op": "read-directory", "on": "d"},
            {"op": "read-directory"},
        ]);
        let results = lab.take(steps).await;
        assert_eq!(results[1]["error"], "overflow", "{results:?}");
        assert!(results[2]["error"].is_null(), "{results:?}");
    }
}

/// Open files are limited, and all of them are closed. A stream that outlives its descriptor counts too, because it
/// keeps the file open.
#[tokio::test]
async fn f25_open_files_are_limited_and_closed() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    let open = json!([{"op": "open-at", "path": "file.txt", "flags": ["read"], "times": 100_000}]);
    let results = lab.take(open).await;
    assert_eq!(results[0]["error"], "insufficient-memory", "{results:?}");
    assert!(results[0]["times"].as_u64().unwrap() <= 64, "{results:?}");
    let held = || {
        let file = lab.path("file.txt");
        let links =
            fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        links.filter(|target| *target == file).count()
    };
    assert_eq!(held(), 0, "descriptors are still open");
}

/// An endless loop of syncs ends with the call's time limit.
#[tokio::test]
async fn f33_a_storm_of_syncs_ends_in_time() {
    let lab = Lab::open(Grant::ReadWrite, "time = \"500 ms\"").await;
    let steps = json!([opened("file.txt"), {"op": "sync", "on": "f", "times": u32::MAX}]);
    let reply = lab.call(&steps).await;
    assert_eq!(reply.code, Code::Limit(LimitKind::Time), "{}", reply.message);
    assert!(reply.usage.run.wall.as_secs() < 3, "{:?}", reply.usage.run.wall);
}
