//! A rolling upgrade: hosts of two versions on one database. The newer one migrates it first. Migrations only add, so
//! hosts of the version before go on, unless a migration says that they cannot.

use super::fleet::{DATABASE, Fleet};
use crate::approvals::desk::{left_behind, mark, numbered, open};
use portcullis::policy::Unattended;
use portcullis::text::WithCauses;
use portcullis::{Answer, Code, open_approvals};
use std::collections::BTreeMap;

/// What the next version of the schema may add.
const ADDED: &str = "BEGIN;
    ALTER TABLE portcullis.question ADD COLUMN urgency INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE portcullis.answer ADD COLUMN reason TEXT;
    CREATE TABLE portcullis.added (id BIGINT PRIMARY KEY);
    UPDATE portcullis.ledger SET version = version + 1;
    COMMIT";

/// Says that only hosts of the next version can use the database.
const CLOSED: &str = "UPDATE portcullis.ledger SET usable_from = version";

#[tokio::test(flavor = "multi_thread")]
async fn a_host_goes_on_with_a_database_that_a_newer_one_migrated() {
    let Some(fleet) = Fleet::new() else { return };
    let headless = || fleet.builder(1).unattended(Unattended::Pending);
    let running = open(headless()).await;
    let before = left_behind(&running, mark(1)).await;
    fleet.server.run(DATABASE, ADDED).unwrap();
    let after = left_behind(&running, mark(2)).await;
    // It also opens again, and does not migrate anything back.
    drop(running);
    let opened = open(headless()).await;
    for id in [before, after] {
        opened.approvals().answer(&id, &Answer::Yes).await.unwrap();
        assert_eq!(opened.resume(&id).await.unwrap().code, Code::Completed);
    }
    assert_eq!(fleet.marks(), BTreeMap::from([(numbered(1), 1), (numbered(2), 1)]));
    assert_eq!(fleet.server.run(DATABASE, "SELECT version FROM portcullis.ledger").unwrap().trim(), "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_too_old_for_a_database_does_not_open() {
    let Some(fleet) = Fleet::new() else { return };
    drop(open(fleet.builder(1)).await);
    for change in [ADDED, CLOSED] {
        fleet.server.run(DATABASE, change).unwrap();
    }
    let refused = open_approvals(fleet.place(2)).await.expect_err("the database is newer");
    let text = WithCauses(&refused).to_string();
    assert!(text.contains("use a newer host"), "{text}");
}
