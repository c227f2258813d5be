//! Isolation of stores: by plugin, by key, and optionally by session and principal.

use crate::state::desk::{ONE, TWO, all, get, list, ok, open, set, site, take, take_as};
use serde_json::{Value, json};

const BOTH: &str = "[plugin.state-one]\nstore.notes = {}\n[plugin.state-two]\nstore.notes = {}\n";
const BY_SESSION: &str = "[plugin.state-one]\nstore.notes = { scope = \"session\" }\n";

/// Keys that would be dangerous if a key were a path, a name or part of a query.
const LEADING: [&str; 12] = [
    "../state-one/x",
    "/state-one/notes/x",
    "state-one",
    "state-one\0notes\0x",
    "x\0",
    "\0",
    "..",
    "%2e%2e/x",
    "x' OR '1'='1",
    "x%",
    "\u{202e}x",
    "X",
];

#[tokio::test]
async fn identical_plugins_share_nothing() {
    let site = site().await;
    let host = open(&site, BOTH).await;
    let steps = json!([set("x", "secret"), get("x"), list()]);
    let expected = [ok(Value::Null), ok("secret"), all(&["x"])];
    assert_eq!(take_as(&host, ONE, "s", "p", steps).await, expected);
    let mut looks = vec![get("x"), list()];
    looks.extend(LEADING.map(get));
    let found = take_as(&host, TWO, "s", "p", Value::Array(looks)).await;
    assert_eq!(found[1], all(&[]));
    assert!(found.iter().enumerate().all(|(at, found)| at == 1 || *found == ok(Value::Null)), "{found:?}");
}

#[tokio::test]
async fn a_key_is_opaque() {
    let site = site().await;
    let host = open(&site, BOTH).await;
    take_as(&host, ONE, "s", "p", json!([set("x", "untouched")])).await;
    let own = LEADING.iter().flat_map(|key| [set(key, key), get(key)]).collect::<Vec<_>>();
    let found = take_as(&host, TWO, "s", "p", Value::Array(own)).await;
    for (pair, key) in found.chunks(2).zip(LEADING) {
        assert_eq!(pair, [ok(Value::Null), ok(key)]);
    }
    assert_eq!(take_as(&host, TWO, "s", "p", json!([list()])).await, [all(&LEADING)]);
    let deletes = LEADING.iter().map(|key| json!({"op": "delete", "store": "notes", "key": key})).collect();
    take_as(&host, TWO, "s", "p", Value::Array(deletes)).await;
    assert_eq!(take_as(&host, TWO, "s", "p", json!([list()])).await, [all(&[])]);
    assert_eq!(take_as(&host, ONE, "s", "p", json!([get("x"), list()])).await, [ok("untouched"), all(&["x"])]);
}

#[tokio::test]
async fn two_keys_of_one_plugin_share_nothing() {
    let site = site().await;
    let host = open(&site, "[plugin.state-one]\nstore.notes = {}\nstore.session = {}\n").await;
    let there = json!({"op": "get", "store": "session", "key": "x"});
    assert_eq!(take(&host, json!([set("x", "here"), there])).await[1], ok(Value::Null));
}

#[tokio::test]
async fn a_session_store_belongs_to_one_session_of_one_principal() {
    let site = site().await;
    let host = open(&site, BY_SESSION).await;
    // Some of these pairs are equal when concatenated.
    let owners = [("ab", "c"), ("a", "bc"), ("ab", "c/d"), ("b", "c"), ("ab", "cd"), ("c", "ab")];
    for (session, principal) in owners {
        let mine = format!("{session} {principal}");
        let steps = json!([get("x"), set("x", &mine), get("x")]);
        let expected = [ok(Value::Null), ok(Value::Null), ok(mine)];
        assert_eq!(take_as(&host, ONE, session, principal, steps).await, expected, "{session} {principal}");
    }
    for (session, principal) in owners {
        let found = take_as(&host, ONE, session, principal, json!([get("x"), list()])).await;
        assert_eq!(found, [ok(format!("{session} {principal}")), all(&["x"])]);
    }
}

#[tokio::test]
async fn a_plugin_store_is_shared_by_all_its_calls() {
    let site = site().await;
    let host = open(&site, BOTH).await;
    take_as(&host, ONE, "a", "p", json!([set("x", "shared")])).await;
    assert_eq!(take_as(&host, ONE, "b", "q", json!([get("x")])).await, [ok("shared")]);
}

#[tokio::test]
async fn a_plugin_store_and_a_session_store_are_separate() {
    let site = site().await;
    let host = open(&site, BOTH).await;
    take_as(&host, ONE, "s", "p", json!([set("x", "of all")])).await;
    drop(host);
    let host = open(&site, BY_SESSION).await;
    assert_eq!(take_as(&host, ONE, "s", "p", json!([get("x"), set("x", "of one")])).await[0], ok(Value::Null));
    drop(host);
    let host = open(&site, BOTH).await;
    assert_eq!(take_as(&host, ONE, "s", "p", json!([get("x")])).await, [ok("of all")]);
}

/// A cursor does not reveal how much another plugin stores.
#[tokio::test]
async fn a_cursor_reveals_nothing_about_other_stores() {
    let site = site().await;
    let grants =
        "[plugin.state-one]\nstore.notes = { keys = 2000 }\n[plugin.state-two]\nstore.notes = { keys = 2000 }\n";
    let host = open(&site, grants).await;
    let fill = json!({"op": "set", "store": "notes", "key": "k{}", "times": 1200});
    let one = take_as(&host, ONE, "s", "p", json!([fill, list()])).await;
    let two = take_as(&host, TWO, "s", "p", json!([fill, list()])).await;
    assert!(one[1]["ok"]["cursor"].is_u64());
    assert_eq!(one[1]["ok"]["cursor"], two[1]["ok"]["cursor"]);
}

#[tokio::test]
async fn a_principal_store_is_shared_by_its_sessions_and_no_other_principal() {
    let site = site().await;
    let host = open(&site, "[plugin.state-one]\nstore.notes = { scope = \"principal\" }\n").await;
    for principal in ["alice", "mcp.alice", "oauth.0123456789ab.alice", "alice/agent", "bob"] {
        let steps = json!([get("x"), set("x", principal)]);
        assert_eq!(take_as(&host, ONE, "one", principal, steps).await, [ok(Value::Null), ok(Value::Null)]);
    }
    for principal in ["alice", "mcp.alice", "oauth.0123456789ab.alice", "alice/agent", "bob"] {
        assert_eq!(take_as(&host, ONE, "two", principal, json!([get("x")])).await, [ok(principal)]);
    }
    // The plugin's own store is separate.
    drop(host);
    let host = open(&site, "[plugin.state-one]\nstore.notes = {}\n").await;
    assert_eq!(take_as(&host, ONE, "one", "alice", json!([list()])).await, [all(&[])]);
}
