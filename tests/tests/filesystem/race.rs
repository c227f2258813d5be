//! Files that change while the guest uses them: F06, F10.

use crate::filesystem::lab::{Grant, Lab};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Attempts of the guest per call.
pub(crate) const LOOKS: u32 = 4000;

/// Maximum number of calls until the guest has seen both states.
pub(crate) const ROUNDS_MAX: u32 = 50;

/// Time limit of a call with that many attempts. A busy machine needs more than the default.
pub(crate) const RACE_LIMITS: &str = "time = \"10 min\"";

/// Exchanges two paths repeatedly until it is dropped.
pub(crate) struct Swapper {
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Swapper {
    pub(crate) fn start(one: PathBuf, other: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let swap = move || {
            while !seen.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        };
        Self { stop, thread: Some(thread::spawn(swap)) }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A directory alternates with a link to the outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f06_a_directory_that_becomes_a_link_is_not_followed_out() {
    let lab = Lab::open(Grant::ReadWrite, RACE_LIMITS).await;
    fs::create_dir(lab.path("race")).unwrap();
    fs::write(lab.path("race/secret.txt"), "inside").unwrap();
    symlink("../outside", lab.path("trap")).unwrap();
    let swapper = Swapper::start(lab.path("race"), lab.path("trap"));
    let results = lab
        .take(json!([
            {"op": "read-in", "path": "race", "to": "secret.txt", "flags": ["follow", "go-on"], "times": LOOKS},
            {"op": "read-in", "path": ".", "to": "race/secret.txt", "flags": ["follow", "go-on"], "times": LOOKS},
            {"op": "std-read", "path": "/workspace/race/secret.txt", "flags": ["go-on"], "times": LOOKS},
        ]))
        .await;
    drop(swapper);
    // `run` looks for the secret in every reply. Here, check that both states were seen.
    for result in &results {
        let all = result["all"].to_string();
        assert!(all.contains("inside") && all.contains("Err"), "the race did not happen: {all}");
    }
}

/// A directory that the guest has open is moved out of the grant. Its `..` must not lead anywhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f10_a_directory_that_is_moved_out_is_no_way_out() {
    let lab = Lab::open(Grant::ReadWrite, RACE_LIMITS).await;
    fs::create_dir(lab.path("mover")).unwrap();
    let swapper = Swapper::start(lab.path("mover"), lab.site.path("world/outside/sub"));
    let results = lab
        .take(json!([
            {"op": "read-in", "path": "mover", "to": "../secret.txt", "flags": ["follow", "go-on"], "times": LOOKS},
            {"op": "read-in", "path": "mover", "to": "../../secret.txt", "flags": ["follow", "go-on"], "times": LOOKS},
            {"op": "read-in", "path": ".", "to": "mover/../../secret.txt", "flags": ["follow", "go-on"], "times": LOOKS},
        ]))
        .await;
    drop(swapper);
    for result in &results {
        let all = result["all"].as_array().unwrap();
        assert!(!all.is_empty() && all.iter().all(|one| one.as_str().unwrap().starts_with("Err")), "{all:?}");
    }
}
