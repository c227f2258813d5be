//! Calls that are running while their plugin is replaced or removed.

use crate::reload::desk::{ALLOW, PATIENCE, asks, call, file, put, put_bytes, word};
use portcullis::approvals::Answering;
use portcullis::{Answer, Approver, Code, Host, Question, Reply};
use portcullis_tests::{Manifest, Site, assert_verifies};
use std::fs;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// An approver that holds each call until the test lets it approve.
struct Gate {
    asked: Semaphore,
    open: Semaphore,
}

impl Approver for Gate {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        self.asked.add_permits(1);
        Box::pin(async {
            self.open.acquire().await.unwrap().forget();
            Answer::Yes
        })
    }
}

async fn gated(site: &Site) -> (Host, Arc<Gate>) {
    let gate = Arc::new(Gate { asked: Semaphore::new(0), open: Semaphore::new(0) });
    (site.builder(ALLOW).approver(Arc::clone(&gate) as _).open().await.unwrap(), gate)
}

/// Starts a call, and returns when its guest is running.
async fn begun(host: &Host, gate: &Gate) -> JoinHandle<Reply> {
    let host = host.clone();
    let running = tokio::spawn(async move { call(&host, "tool").await });
    timeout(PATIENCE, gate.asked.acquire()).await.unwrap().unwrap().forget();
    running
}

#[tokio::test]
async fn a_running_call_finishes_on_the_old_code_while_new_calls_use_the_new() {
    let site = Site::new();
    put_bytes(&site, "tool", &asks("old", &Manifest::of("tool")));
    let (host, gate) = gated(&site).await;
    let old = begun(&host, &gate).await;
    put(&site, "tool", "new");
    assert_eq!(host.reload().await.unwrap().replaced.len(), 1);
    assert_eq!(word(call(&host, "tool").await), "new");
    assert!(!old.is_finished());
    gate.open.add_permits(1);
    assert_eq!(word(old.await.unwrap()), "old");
    assert_verifies(&host);
}

#[tokio::test]
async fn a_running_call_finishes_after_its_plugin_is_removed() {
    let site = Site::new();
    put_bytes(&site, "tool", &asks("old", &Manifest::of("tool")));
    let (host, gate) = gated(&site).await;
    let old = begun(&host, &gate).await;
    fs::remove_file(file(&site, "tool")).unwrap();
    host.reload().await.unwrap();
    assert_eq!(call(&host, "tool").await.code, Code::UnknownTool);
    gate.open.add_permits(1);
    assert_eq!(word(old.await.unwrap()), "old");
}

/// The code of a plugin that has never run comes from the cache, by the hash of its file. Without a cache the call
/// fails, because the file has changed. A call never runs the code of another plugin.
#[tokio::test]
async fn a_call_whose_file_is_replaced_before_loading_runs_the_old_code_or_fails() {
    let site = Site::new();
    put(&site, "tool", "old");
    drop(site.open(ALLOW).await);
    for cached in [true, false] {
        put(&site, "tool", "old");
        let host = site.open(ALLOW).await;
        put(&site, "tool", "new");
        if !cached {
            for entry in fs::read_dir(site.state().join("cache")).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.extension().is_some_and(|extension| extension == "code") {
                    fs::remove_file(entry).unwrap();
                }
            }
        }
        let reply = call(&host, "tool").await;
        match cached {
            true => assert_eq!(word(reply), "old"),
            false => assert_eq!(reply.code, Code::PluginRefused, "{}", reply.message),
        }
        host.reload().await.unwrap();
        assert_eq!(word(call(&host, "tool").await), "new");
    }
}
