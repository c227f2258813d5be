//! Special files, and names that are not UTF-8: F14 to F17, F34.

use crate::filesystem::lab::{Grant, Lab};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

/// Every way to open a path.
fn opens(path: &str) -> Vec<Value> {
    let flags: [&[&str]; 8] = [
        &["read"],
        &["read", "follow"],
        &["write", "follow"],
        &["read", "write"],
        &["write", "create"],
        &["write", "create", "truncate", "follow"],
        &[],
        &["read", "directory"],
    ];
    flags.iter().map(|flags| json!({"op": "open-at", "path": path, "flags": flags})).collect()
}

/// Opening a pipe would block a host thread forever. With as many pipes as threads, the next open would never return.
#[test]
fn f14_f34_a_pipe_blocks_no_thread() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build().unwrap();
    runtime.block_on(async {
        for grant in Grant::ALL {
            let lab = Lab::open(grant, "").await;
            mknodat(CWD, lab.path("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
            std::os::unix::fs::symlink("pipe", lab.path("pipe-link")).unwrap();
            let began = Instant::now();
            lab.refuses([opens("pipe"), opens("pipe-link"), opens("pipe/")].concat()).await;
            let results = lab.take(json!([{"op": "open-at", "path": "file.txt", "flags": ["read"]}])).await;
            assert!(results[0]["error"].is_null(), "{results:?}");
            assert!(began.elapsed() < Duration::from_secs(1), "{grant:?}: {:?}", began.elapsed());
        }
    });
}

#[tokio::test]
async fn f15_a_socket_is_not_opened() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "").await;
        let _listener = UnixListener::bind(lab.path("socket")).unwrap();
        lab.refuses(opens("socket")).await;
    }
}

/// Only a privileged user can create a device, so otherwise the test has nothing to open.
#[tokio::test]
async fn f15_a_device_is_not_opened() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "").await;
        let zero = makedev(1, 5);
        if mknodat(CWD, lab.path("zero"), FileType::CharacterDevice, Mode::from_raw_mode(0o666), zero).is_ok() {
            lab.refuses(opens("zero")).await;
        } else {
            assert!(!rustix::process::geteuid().is_root() || !lab.path("zero").exists());
        }
    }
}

/// A name that is not UTF-8 is left out or is an error. The other entries are listed.
#[tokio::test]
async fn f16_a_name_that_is_not_utf8_does_not_hide_the_others() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    fs::write(lab.path("dir").join(OsStr::from_bytes(b"\xff\xfe")), "").unwrap();
    fs::write(lab.path("dir/zzz"), "").unwrap();
    let steps = json!([
        {"op": "open-at", "path": "dir", "keep": "d", "flags": ["read", "directory"]},
        {"op": "read-directory", "on": "d"},
    ]);
    let listed = lab.take(steps).await.remove(1);
    for name in ["inner.txt", "hop", "zzz"] {
        assert!(listed["ok"].as_array().is_some_and(|names| names.contains(&json!(name))), "{listed}");
    }
}

/// A name with terminal escapes is plain data. The audit log contains it as escaped JSON.
#[tokio::test]
async fn f17_a_name_with_terminal_escapes_is_data() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    let name = "a\n[APPROVED]\u{1b}[2K";
    fs::write(lab.path("dir").join(name), "").unwrap();
    let steps = json!([
        {"op": "open-at", "path": "dir", "keep": "d", "flags": ["read", "directory"]},
        {"op": "read-directory", "on": "d"},
        {"op": "unlink-file-at", "on": "d", "path": name},
    ]);
    let results = lab.take(steps).await;
    assert!(results[1]["ok"].as_array().unwrap().contains(&json!(name)), "{results:?}");
    assert!(results[2]["error"].is_null() && !lab.path("dir").join(name).exists(), "{results:?}");
    let record = fs::read_to_string(lab.site.state().join("audit.jsonl")).unwrap();
    assert!(!record.chars().any(|character| character.is_control() && character != '\n'));
}
