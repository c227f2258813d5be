//! Stores that a call cannot open.

use crate::state::desk::{notes, ok, open, refused, results, site, take};
use portcullis::{Code, Request};
use serde_json::{Value, json};

#[tokio::test]
async fn an_unknown_store_a_wrong_kind_and_a_missing_grant_have_different_errors() {
    let site = site().await;
    site.directory("world");
    let grants =
        "[plugin.state-one]\nstore.notes = {}\ndirectory.workspace = { path = \"world\", access = \"read-write\" }\n";
    let host = open(&site, grants).await;
    for (store, error) in [
        ("unknown", "no-such-store"),
        ("", "no-such-store"),
        ("NOTES", "no-such-store"),
        ("notes\0", "no-such-store"),
        ("state-one.notes", "no-such-store"),
        ("default", "no-such-store"),
        ("workspace", "no-such-store"),
        ("ungranted", "access-denied"),
        ("session", "access-denied"),
    ] {
        let step = json!({"op": "open", "store": store});
        assert_eq!(take(&host, json!([step])).await, [refused(error)], "{store:?}");
    }
    assert_eq!(take(&host, json!([{"op": "open", "store": "notes"}])).await, [ok(Value::Null)]);
}

/// A tool that declares `read` and not `write` can read the store, and cannot change it.
#[tokio::test]
async fn a_tool_that_only_declares_read_cannot_change_its_store() {
    let site = site().await;
    let host = open(&site, &notes("")).await;
    take(&host, json!([{"op": "set", "store": "notes", "key": "a", "text": "1"}])).await;
    let steps = json!({ "steps": [
        {"op": "set", "store": "notes", "key": "a", "text": "2"},
        {"op": "set", "store": "notes", "key": "b", "text": "2"},
        {"op": "increment", "store": "notes", "key": "a", "number": 1},
        {"op": "delete", "store": "notes", "key": "a"},
        {"op": "get", "store": "notes", "key": "a"},
        {"op": "list", "store": "notes"},
    ] });
    let looked = results(&host.call(Request::new("state-one.look", steps.to_string())).await);
    let refusal = refused("the store is read-only for this tool: it declares `read` and not `write`");
    assert_eq!(looked[..4], vec![refusal; 4], "{looked:?}");
    let read =
        take(&host, json!([{"op": "get", "store": "notes", "key": "a"}, {"op": "list", "store": "notes"}])).await;
    assert_eq!(looked[4..], read, "the tool must read like any other");
}

/// The policy is not the reason for a handle that the tool does not declare, and the reply says so.
#[tokio::test]
async fn opening_an_undeclared_handle_is_reported_in_the_reply() {
    let site = site().await;
    site.directory("world");
    let grant = "[plugin.state-one]\ndirectory.workspace = { path = \"world\", access = \"read-write\" }\n";
    for grant in [grant, ""] {
        let reply = open(&site, grant).await.call(Request::new("state-one.stray", "{}")).await;
        let told = "Note from the host: the tool opened the directory `workspace` without declaring `read` or `write`.";
        assert_eq!(reply.code, Code::ToolDenied, "{}", reply.message);
        assert!(reply.message.contains(told), "{}", reply.message);
    }
}

#[tokio::test]
async fn without_a_grant_there_is_no_store() {
    let site = site().await;
    let host = open(&site, "").await;
    for store in ["notes", "session", "ungranted"] {
        for op in ["open", "get", "set", "delete", "exists", "list"] {
            let step = json!({"op": op, "store": store, "key": "x", "text": "x"});
            assert_eq!(take(&host, json!([step])).await, [refused("access-denied")], "{op} {store}");
        }
    }
}
