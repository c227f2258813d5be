//! Two processes with one store.

use crate::state::desk::{list, notes, open, open_at, site, take};
use serde_json::json;
use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The variable that names the site to a child process.
const ROOT: &str = "PORTCULLIS_TEST_STATE_ROOT";

/// The quota of both processes together.
const KEYS: u64 = 700;

/// The number of keys that each process tries to write.
const TRIED: u64 = 500;

async fn fill(host: &portcullis::Host, name: &str) -> u64 {
    let key = format!("{name}-{{}}");
    let steps = json!([{"op": "set", "store": "notes", "key": key, "text": name, "times": TRIED}]);
    take(host, steps).await[0]["times"].as_u64().unwrap()
}

/// This process is either the child, which fills the store, or the parent, which fills it at the same time.
#[tokio::test]
async fn two_processes_keep_one_quota_together() {
    let grants = notes(&format!("keys = {KEYS}"));
    if let Some(root) = env::var_os(ROOT) {
        let host = open_at(&PathBuf::from(root), &grants).await;
        fill(&host, "child").await;
        return;
    }
    let site = site().await;
    let host = open(&site, &grants).await;
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "state::processes::two_processes_keep_one_quota_together", "--test-threads=1"])
        .env(ROOT, site.path(""))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let own = fill(&host, "parent").await;
    assert!(tokio::task::spawn_blocking(move || child.wait().unwrap().success()).await.unwrap());
    let kept = take(&host, json!([list()])).await[0]["ok"]["keys"].as_array().unwrap().clone();
    let of = |name: &str| kept.iter().filter(|key| key.as_str().unwrap().starts_with(name)).count() as u64;
    assert_eq!(kept.len() as u64, KEYS);
    assert_eq!(of("parent"), own);
    assert_eq!(of("child"), KEYS - own);
}
