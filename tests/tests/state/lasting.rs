//! The lifetime of a store: it survives the host and updates of its plugin. A session's store lasts until it is unused.

use crate::state::desk::{ONE, all, get, list, ok, open, set, site, take, take_as};
use portcullis_tests::{Site, built_guest, ledger_number};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

const NOTES: &str = "[plugin.state-one]\nstore.notes = {}\nstore.session = { scope = \"session\" }\n";

const DAY_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Makes every store look as if it was last used this many days ago.
fn age(site: &Site, days: i64) {
    let used = now() - days * DAY_MILLISECONDS;
    let changed = ledger_number(&site.state(), &format!("UPDATE store SET used_at = {used} RETURNING used_at"));
    assert_eq!(changed, used);
}

fn of_session(op: &str) -> Value {
    json!({"op": op, "store": "session", "key": "x", "text": "mine"})
}

#[tokio::test]
async fn a_store_survives_the_host() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    take_as(&host, ONE, "s", "p", json!([set("x", "kept"), of_session("set")])).await;
    drop(host);
    let host = open(&site, NOTES).await;
    assert_eq!(take_as(&host, ONE, "s", "p", json!([get("x"), of_session("get")])).await, [ok("kept"), ok("mine")]);
}

#[tokio::test]
async fn a_store_survives_an_update_of_the_plugin() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    take(&host, json!([set("x", "kept")])).await;
    drop(host);
    let mut updated = built_guest("state");
    // A custom section named "v" with the byte 2.
    updated.extend([0, 3, 1, b'v', b'2']);
    site.plugin(ONE, &updated);
    let host = open(&site, NOTES).await;
    assert_eq!(take(&host, json!([get("x")])).await, [ok("kept")]);
}

#[tokio::test]
async fn a_plugin_reads_its_writes_overwrites_and_deletions() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    let exists = json!({"op": "exists", "store": "notes", "key": "x"});
    let delete = json!({"op": "delete", "store": "notes", "key": "x"});
    let steps =
        json!([exists, set("x", ""), exists, get("x"), set("x", "1"), get("x"), delete, exists, get("x"), delete]);
    let nothing = Value::Null;
    let expected = [
        ok(false),
        ok(nothing.clone()),
        ok(true),
        ok(""),
        ok(nothing.clone()),
        ok("1"),
        ok(nothing.clone()),
        ok(false),
        ok(nothing.clone()),
        ok(nothing),
    ];
    assert_eq!(take(&host, steps).await, expected);
}

#[tokio::test]
async fn concurrent_hosts_see_each_others_changes() {
    let site = site().await;
    let (one, two) = (open(&site, NOTES).await, open(&site, NOTES).await);
    take(&one, json!([set("x", "of one")])).await;
    assert_eq!(take(&two, json!([get("x"), set("x", "of two"), set("y", "")])).await[0], ok("of one"));
    assert_eq!(take(&one, json!([get("x"), list()])).await, [ok("of two"), all(&["x", "y"])]);
}

#[tokio::test]
async fn a_session_that_is_unused_for_a_month_is_deleted() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    take_as(&host, ONE, "s", "p", json!([set("x", "kept"), of_session("set")])).await;
    drop(host);
    age(&site, 29);
    let host = open(&site, NOTES).await;
    assert_eq!(take_as(&host, ONE, "s", "p", json!([of_session("get")])).await, [ok("mine")]);
    drop(host);
    age(&site, 31);
    let host = open(&site, NOTES).await;
    let found = take_as(&host, ONE, "s", "p", json!([get("x"), of_session("get")])).await;
    assert_eq!(found, [ok("kept"), ok(Value::Null)]);
    let entries = ledger_number(&site.state(), "SELECT count(*) FROM entry");
    assert_eq!(entries, 1, "its entries must be deleted too");
}

#[tokio::test]
async fn reading_counts_as_a_use_of_a_session() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    take_as(&host, ONE, "s", "p", json!([of_session("set")])).await;
    for op in ["get", "exists", "list"] {
        age(&site, 2);
        take_as(&host, ONE, "s", "p", json!([of_session(op)])).await;
        let used = ledger_number(&site.state(), "SELECT used_at FROM store");
        assert!(used > now() - DAY_MILLISECONDS, "{op}");
    }
}

/// Endless new sessions do not fill the disk.
#[tokio::test]
async fn the_number_of_session_stores_is_limited_and_the_least_recently_used_is_deleted() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    take_as(&host, ONE, "oldest", "p", json!([of_session("set")])).await;
    age(&site, 3);
    begin_sessions(&site, "p", 1023, 1);
    take_as(&host, ONE, "newest", "p", json!([of_session("set"), set("x", "")])).await;
    assert_eq!(sessions_of(&site, "p"), 1024);
    assert_eq!(take_as(&host, ONE, "oldest", "p", json!([of_session("get")])).await, [ok(Value::Null)]);
    assert_eq!(take_as(&host, ONE, "newest", "p", json!([of_session("get")])).await, [ok("mine")]);
}

/// Creates empty session stores of a principal, last used this many days ago.
fn begin_sessions(site: &Site, principal: &str, stores: usize, days: i64) {
    let used = now() - days * DAY_MILLISECONDS;
    let values = (0..stores)
        .map(|number| format!("('state-one', 'session', 'session', 's{number}', '{principal}', 0, 0, 1, {used})"));
    let insert = "INSERT INTO store (plugin, key, scope, session, principal, entries, bytes, next, used_at) VALUES";
    let values = values.collect::<Vec<_>>().join(", ");
    ledger_number(&site.state(), &format!("{insert} {values} RETURNING id"));
}

fn sessions_of(site: &Site, principal: &str) -> i64 {
    let count = format!("SELECT count(*) FROM store WHERE scope = 'session' AND principal = '{principal}'");
    ledger_number(&site.state(), &count)
}

#[tokio::test]
async fn a_flood_of_sessions_deletes_no_store_of_another_principal() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    take_as(&host, ONE, "quiet", "q", json!([of_session("set")])).await;
    age(&site, 20);
    begin_sessions(&site, "p", 1024, 1);
    for session in ["a", "b"] {
        take_as(&host, ONE, session, "p", json!([of_session("set")])).await;
    }
    // A sub-agent counts toward the share of its root principal.
    take_as(&host, ONE, "c", "p/agent", json!([of_session("set")])).await;
    assert_eq!((sessions_of(&site, "p"), sessions_of(&site, "p/agent")), (1023, 1));
    assert_eq!(take_as(&host, ONE, "quiet", "q", json!([of_session("get")])).await, [ok("mine")]);
}

#[tokio::test]
async fn if_all_principals_have_too_many_sessions_the_one_with_the_most_loses_one() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    take_as(&host, ONE, "quiet", "q", json!([of_session("set")])).await;
    age(&site, 20);
    for (principal, stores) in [("p1", 1024), ("p2", 1023), ("p3", 1024), ("p4", 1024)] {
        begin_sessions(&site, principal, stores, if principal == "p3" { 2 } else { 1 });
    }
    take_as(&host, ONE, "new", "r", json!([of_session("set")])).await;
    let left = ["q", "p1", "p2", "p3", "p4", "r"].map(|principal| sessions_of(&site, principal));
    assert_eq!(left, [1, 1024, 1023, 1023, 1024, 1]);
    assert_eq!(take_as(&host, ONE, "quiet", "q", json!([of_session("get")])).await, [ok("mine")]);
}

#[tokio::test]
async fn a_read_counts_as_a_use_when_a_session_must_be_deleted() {
    let site = site().await;
    let host = open(&site, NOTES).await;
    for session in ["read", "left"] {
        take_as(&host, ONE, session, "p", json!([of_session("set")])).await;
    }
    begin_sessions(&site, "p", 1022, 0);
    take_as(&host, ONE, "read", "p", json!([of_session("get")])).await;
    take_as(&host, ONE, "new", "p", json!([of_session("set")])).await;
    assert_eq!(take_as(&host, ONE, "read", "p", json!([of_session("get")])).await, [ok("mine")]);
    assert_eq!(take_as(&host, ONE, "left", "p", json!([of_session("get")])).await, [ok(Value::Null)]);
}
