//! While another process holds the ledger, a tool that writes more than fits waits for it, and nothing else does.

use crate::outputs::desk::{all_lines, bytes_of, lines, open, reference, site, text};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long the ledger is held. Far less than SQLite waits for it.
const HELD: Duration = Duration::from_millis(300);

/// Less than SQLite waits for the ledger. A blocked runtime needs longer.
const BLOCKED_MIN: Duration = Duration::from_secs(5);

/// The runtime of this test has one thread.
#[tokio::test]
async fn a_tool_whose_output_waits_for_the_ledger_blocks_no_worker() {
    let site = site().await;
    let host = open(&site).await;
    let ledger = rusqlite::Connection::open(site.state().join("ledger.sqlite")).unwrap();
    ledger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    let writing = host.clone();
    let mut call = tokio::spawn(async move { lines(&writing, 2000).await });
    assert!(timeout(HELD, &mut call).await.is_err(), "the tool did not wait for the ledger");
    assert!(began.elapsed() < BLOCKED_MIN, "the runtime was blocked for {:?}", began.elapsed());
    ledger.execute_batch("ROLLBACK").unwrap();
    let reply = call.await.unwrap();
    text(&reply);
    assert_eq!(bytes_of(&host, &reference(&reply)), all_lines(2000).as_bytes());
}
