//! Stores that a call does not have.

use crate::desk::{ok, open, refused, site, take};
use serde_json::{Value, json};

#[tokio::test]
async fn a_store_that_is_unknown_of_another_kind_or_not_granted_is_refused_by_its_own_word() {
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
