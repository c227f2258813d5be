//! The effects of a run on its directory are reported however it ends, even if no one waits for its end.

use super::rig::Rig;
use portcullis_definitions::manifest::Failure;
use portcullis_sandbox::{Effects, Stop};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

/// The effects of the tool `work`.
const WORKED: Effects = Effects { created: 1, changed: 1, removed: 1, renamed: 1, directories: 1, written_bytes: 20 };

fn directory() -> TempDir {
    let directory = TempDir::new().unwrap();
    for name in ["old.txt", "kept.txt"] {
        fs::write(directory.path().join(name), "as it was").unwrap();
    }
    directory
}

/// Asserts that the tool had its effects.
#[track_caller]
fn worked(directory: &TempDir) {
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    assert_eq!((read("renamed.txt").as_str(), read("kept.txt").as_str()), ("twelve bytes", "eight by"));
    assert!(directory.path().join("made").is_dir() && !directory.path().join("old.txt").exists());
}

#[tokio::test]
async fn of_a_run_that_ends() {
    for (then, succeeds) in [(json!("nothing"), true), (json!({ "fail": "as told" }), false)] {
        let directory = directory();
        let run = Rig::new().workspace(directory.path()).run("work", &json!({ "then": then })).await;
        worked(&directory);
        assert_eq!(run.ran.effects, WORKED);
        assert_eq!(run.ran.result.as_ref().unwrap().is_ok(), succeeds);
        assert_eq!(run.taker.told().effects, None, "effects must not be reported twice");
    }
}

#[tokio::test]
async fn of_a_run_that_traps() {
    let directory = directory();
    let run = Rig::new().workspace(directory.path()).run("work", &json!({ "then": "trap" })).await;
    worked(&directory);
    assert!(matches!(run.stop(), Stop::Trapped(_)));
    assert_eq!(run.ran.effects, WORKED);
}

#[tokio::test]
async fn of_a_run_that_is_cancelled() {
    for then in ["wait", "compute"] {
        let directory = directory();
        let rig = Rig::new().workspace(directory.path());
        let cancellation = rig.cancellation.clone();
        let run = rig.on_progress(move || cancellation.cancel_at_once()).run("work", &json!({ "then": then })).await;
        worked(&directory);
        assert_eq!(run.stop(), &Stop::Cancelled);
        assert_eq!(run.ran.effects, WORKED, "{then}");
    }
}

#[tokio::test]
async fn of_a_run_that_is_dropped() {
    let directory = directory();
    let rig = Rig::new().workspace(directory.path());
    let taker = rig.drop_at_progress("work", &json!({ "then": "wait" })).await;
    worked(&directory);
    assert_eq!(taker.told().effects, Some(WORKED));
}

#[tokio::test]
async fn of_a_run_that_did_nothing() {
    let directory = directory();
    let rig = Rig::new().workspace(directory.path());
    let run = rig.run("lines", &json!({ "count": 1, "bytes": 10 })).await;
    assert!(run.ran.effects.is_empty());
    let run = Rig::new().run("work", &json!({})).await;
    assert!(matches!(run.failure(), Failure::Failed(_) | Failure::Denied(_)));
    assert!(run.ran.effects.is_empty());
}
