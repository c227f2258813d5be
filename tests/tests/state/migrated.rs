//! A ledger of an earlier version, in its file.

use crate::state::desk::{get, ok, open, set, site, take};
use portcullis_tests::Site;
use rusqlite::Connection;
use serde_json::json;

const NOTES: &str = "[plugin.state-one]\nstore.notes = {}\nstore.session = { scope = \"session\" }\n";

fn ledger(site: &Site) -> Connection {
    Connection::open(site.state().join("ledger.sqlite")).unwrap()
}

#[tokio::test]
async fn an_old_ledger_without_stores_is_migrated() {
    let site = site().await;
    let before = "DROP TABLE generation; DROP TABLE outbox; DROP TABLE output; DROP TABLE entry; DROP TABLE store; \
                  CREATE TABLE session (name TEXT); PRAGMA user_version = 1;";
    ledger(&site).execute_batch(before).unwrap();
    let host = open(&site, NOTES).await;
    assert_eq!(take(&host, json!([set("x", "kept"), get("x")])).await[1], ok("kept"));
    let version: i64 = ledger(&site).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 7);
    let sessions = "SELECT count(*) FROM sqlite_schema WHERE name = 'session'";
    assert_eq!(ledger(&site).query_row(sessions, [], |row| row.get(0)), Ok(0));
}
