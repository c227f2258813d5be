//! Many calls while a file changes many times. No call is lost, and each runs the code, the definition and the identity
//! of one version.

use crate::reload::desk::{ALLOW, call, put_bytes, says, word};
use portcullis::Host;
use portcullis_tests::{BlockOn, Manifest, Site, assert_verifies, outcomes};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often the file changes. With the calls for each change, the test takes some seconds.
const CHANGES: usize = 1000;

/// Calls for each change.
const CALLS_PER_CHANGE: usize = 10;

/// The tasks that call at the same time.
const CALLERS: usize = 4;

/// The versions of the file. More would only be compiled.
const VERSIONS: usize = 8;

fn bytes_of(version: usize) -> Vec<u8> {
    let manifest = Manifest::of("tool").tool(|tool| tool.description = format!("Says {version}."));
    says(&version.to_string(), &manifest)
}

/// Returns the hashes of the plugin and of the definition of its tool, as the audit log has them.
fn hashes(host: &Host) -> (String, String) {
    let hex = |hash: [u8; 32]| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let catalog = host.catalog();
    let plugin = catalog.plugin("tool").unwrap();
    (hex(plugin.sha256()), hex(plugin.tools().next().unwrap().sha256()))
}

/// Returns the same hashes for each call, from its decision.
fn decisions(host: &Host) -> BTreeMap<String, (String, String)> {
    let mut decisions = BTreeMap::new();
    let audit = host.audit();
    let read = audit.read(|entry| {
        let text = |key: &str| entry.document[key].as_str().unwrap_or_default().to_owned();
        if text("kind") == "decision" {
            decisions.insert(text("call"), (text("plugin_sha256"), text("definition_sha256")));
        }
        Ok(())
    });
    assert_eq!(read.block_on().unwrap().fault, None);
    decisions
}

/// Calls until there are enough calls and all changes are made. Returns the ids of the calls with their answers.
async fn call_on(host: Host, left: Arc<AtomicUsize>, changes_left: Arc<AtomicUsize>) -> Vec<(String, String)> {
    let mut replies = Vec::new();
    let take = |left: &AtomicUsize| left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    while take(&left).is_ok() || changes_left.load(Ordering::SeqCst) > 0 {
        let reply = call(&host, "tool").await;
        replies.push((reply.id.to_string(), word(reply)));
    }
    replies
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_is_lost_or_mixes_versions_while_a_file_changes_all_the_time() {
    let site = Site::new();
    put_bytes(&site, "tool", &bytes_of(0));
    let host = site.open(ALLOW).await;
    // Each version is compiled before the calls begin.
    let mut known = BTreeMap::from([("0".to_owned(), hashes(&host))]);
    for version in 1..VERSIONS {
        put_bytes(&site, "tool", &bytes_of(version));
        host.reload().await.unwrap();
        known.insert(version.to_string(), hashes(&host));
    }
    let (left, changes_left) =
        (Arc::new(AtomicUsize::new(CHANGES * CALLS_PER_CHANGE)), Arc::new(AtomicUsize::new(CHANGES)));
    let start = |_| tokio::spawn(call_on(host.clone(), Arc::clone(&left), Arc::clone(&changes_left)));
    let callers: Vec<_> = (0..CALLERS).map(start).collect();
    for change in 0..CHANGES {
        put_bytes(&site, "tool", &bytes_of(change % VERSIONS));
        assert_eq!(host.reload().await.unwrap().replaced.len(), 1, "change {change}");
        changes_left.fetch_sub(1, Ordering::SeqCst);
    }
    let mut replies = BTreeMap::new();
    for caller in callers {
        replies.extend(caller.await.unwrap());
    }
    assert!(replies.len() >= CHANGES * CALLS_PER_CHANGE);
    assert_eq!(word(call(&host, "tool").await), ((CHANGES - 1) % VERSIONS).to_string());
    assert_eq!(outcomes(&host).len(), replies.len() + 1, "each call has one outcome");
    let decided = decisions(&host);
    for (call, word) in &replies {
        assert_eq!(decided[call], known[word], "a call of one version answered as another");
    }
    let seen: BTreeSet<&String> = replies.values().collect();
    assert!(seen.len() > 1, "the calls ran while the file changed");
    assert_verifies(&host);
}
