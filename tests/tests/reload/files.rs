//! Files that are added, changed and removed.

use crate::reload::desk::{ALLOW, call, file, lines, put, tools, word};
use portcullis::policy::PluginName;
use portcullis::{Code, Reloaded};
use portcullis_tests::{Site, assert_verifies};
use std::fs;
use std::sync::Arc;

fn names(names: &[&str]) -> Vec<PluginName> {
    names.iter().map(|name| PluginName::new(name).unwrap()).collect()
}

#[tokio::test]
async fn plugins_follow_the_files_that_are_added_changed_and_removed() {
    let site = Site::new();
    let host = site.open(ALLOW).await;
    let changes = host.catalog_changes();
    assert!(host.reload().await.unwrap().is_empty());
    assert!(!changes.has_changed().unwrap());

    put(&site, "early", "one");
    put(&site, "late", "one");
    let reloaded = host.reload().await.unwrap();
    assert_eq!(reloaded, Reloaded { added: names(&["early", "late"]), ..Reloaded::default() });
    assert_eq!(tools(&host), ["early.run", "good.run", "late.run"]);
    assert_eq!(word(call(&host, "late").await), "one");

    put(&site, "late", "two");
    let reloaded = host.reload().await.unwrap();
    assert_eq!(reloaded, Reloaded { replaced: names(&["late"]), ..Reloaded::default() });
    assert_eq!(tools(&host), ["early.run", "good.run", "late.run"]);
    assert_eq!(word(call(&host, "late").await), "two");

    fs::remove_file(file(&site, "early")).unwrap();
    let reloaded = host.reload().await.unwrap();
    assert_eq!(reloaded, Reloaded { removed: names(&["early"]), ..Reloaded::default() });
    assert_eq!(tools(&host), ["good.run", "late.run"]);
    assert_eq!(call(&host, "early").await.code, Code::UnknownTool);

    let record: Vec<_> = [("added", "early"), ("added", "late"), ("replaced", "late"), ("removed", "early")]
        .map(|(event, plugin)| (event.to_owned(), plugin.to_owned(), true))
        .into();
    assert_eq!(lines(&host), record);
    assert_verifies(&host);
}

/// Each change is reported once, and unchanged plugins keep their identity.
#[tokio::test]
async fn a_change_is_reported_once_and_does_not_affect_other_plugins() {
    let site = Site::new();
    let host = site.open(ALLOW).await;
    let mut changes = host.catalog_changes();
    let before = host.catalog();
    put(&site, "other", "one");
    host.reload().await.unwrap();
    assert!(changes.has_changed().unwrap());
    let after = Arc::clone(&changes.borrow_and_update());
    assert!(Arc::ptr_eq(&after, &host.catalog()));
    assert!(std::ptr::eq(before.plugin("good").unwrap(), after.plugin("good").unwrap()));
    // The same bytes are written again: that is a new file, and the same plugin.
    put(&site, "other", "one");
    assert!(host.reload().await.unwrap().is_empty());
    assert!(!changes.has_changed().unwrap());
    assert!(Arc::ptr_eq(&after, &host.catalog()));
}

#[tokio::test]
async fn only_one_of_several_concurrent_reloads_reports_the_change() {
    let site = Site::new();
    let host = site.open(ALLOW).await;
    put(&site, "other", "one");
    let all: Vec<_> = (0..8)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { host.reload().await.unwrap() })
        })
        .collect();
    let mut found = 0;
    for reload in all {
        let reloaded = reload.await.unwrap();
        found += reloaded.added.len();
        assert!(reloaded.is_empty() || reloaded.added == names(&["other"]), "{reloaded:?}");
    }
    assert_eq!(found, 1);
    assert_eq!(lines(&host).len(), 1);
}

/// A reload that is dropped has changed everything or nothing.
#[tokio::test]
async fn a_dropped_reload_takes_effect_completely_or_not_at_all() {
    let site = Site::new();
    let host = site.open(ALLOW).await;
    put(&site, "other", "one");
    for polls in 1..4 {
        let mut reload = Box::pin(host.reload());
        for _ in 0..polls {
            let once = std::future::poll_fn(|context| std::task::Poll::Ready(reload.as_mut().poll(context))).await;
            assert!(once.is_pending(), "it finished after {polls} polls");
        }
    }
    // Its progress depends on the disk. The next reload does the rest.
    host.reload().await.unwrap();
    let added = |line: &(String, String, bool)| line.0 == "added" && line.1 == "other";
    assert!(lines(&host).iter().any(added));
    assert!(tools(&host).iter().any(|tool| tool.contains("other")));
}
