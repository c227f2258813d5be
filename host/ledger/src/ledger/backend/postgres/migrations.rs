//! The schema of the ledger in PostgreSQL. The first host that opens a database brings it to the newest version.
//!
//! A migration only adds, so that hosts of the version before go on with the database (a rolling upgrade). One that
//! takes something away names the oldest version that can still use the result.

use super::connections::{Connections, REACH_TIME};
use crate::ledger::backend::error::{DatabaseFault, Result};
use crate::ledger::error::LedgerError;
use crate::ledger::seal::Seal;
use deadpool_postgres::Object;

/// A version of the schema.
struct Migration {
    sql: &'static str,
    /// The oldest version of a host that can use a database after this migration.
    usable_from: i32,
}

/// The migrations to the newest schema. The version of a database is the number of migrations that it has had.
const MIGRATIONS: [Migration; 1] = [Migration { sql: include_str!("schema.sql"), usable_from: 1 }];

/// Begins a migration, after those of other hosts.
const BEGIN: &str = "BEGIN; SELECT pg_advisory_xact_lock(8101820098873224301)";

/// What shows that a host has the key of the ledger.
const KEY_CHECK: [&str; 2] = ["ledger", "the key of this ledger"];

/// What a database says of its ledger.
struct Found {
    version: i32,
    usable_from: i32,
    key_check: Vec<u8>,
}

/// The result of a migration: it needs no change or could be made, or it must not be.
enum Migrated {
    Ready,
    Refused(UnusableLedger),
}

/// Why this host cannot use a ledger.
enum UnusableLedger {
    Newer(i32),
    OtherKey,
}

/// Brings the database to the newest version.
pub(super) fn migrate(connections: &Connections, seal: &Seal) -> std::result::Result<(), LedgerError> {
    let known = known();
    let (client, migrated) = connections.reach(REACH_TIME, &async |client: &Object| {
        // PostgreSQL rolls back changes of a schema too, so a lost connection leaves no half of a migration.
        client.batch_execute(BEGIN).await?;
        let migrated = migrate_within(client, seal, known).await;
        let end = if matches!(migrated, Ok(Migrated::Ready)) { "COMMIT" } else { "ROLLBACK" };
        client.batch_execute(end).await?;
        migrated
    })?;
    drop(client);
    match migrated {
        Migrated::Ready => Ok(()),
        Migrated::Refused(why) => Err(why.error(connections)),
    }
}

/// Returns whether the database has a ledger. Changes nothing, so the ledger can be of an earlier version.
pub(super) fn is_there(connections: &Connections, seal: &Seal) -> std::result::Result<bool, LedgerError> {
    let (client, found) = connections.reach(REACH_TIME, &async |client: &Object| found(client).await)?;
    drop(client);
    match found.map(|found| found.unusable(seal, known())) {
        None => Ok(false),
        Some(None) => Ok(true),
        Some(Some(why)) => Err(why.error(connections)),
    }
}

/// Returns the newest version.
fn known() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

impl Found {
    /// Returns why this host cannot use the ledger, or none if it can.
    fn unusable(&self, seal: &Seal, known: i32) -> Option<UnusableLedger> {
        if !seal.holds(KEY_CHECK[0], &KEY_CHECK[1..], &self.key_check) {
            return Some(UnusableLedger::OtherKey);
        }
        (self.usable_from > known).then_some(UnusableLedger::Newer(self.version))
    }
}

impl UnusableLedger {
    fn error(self, connections: &Connections) -> LedgerError {
        match self {
            Self::OtherKey => LedgerError::OtherKey { place: connections.place.clone() },
            Self::Newer(found) => {
                LedgerError::Newer { found: usize::try_from(found).unwrap_or_default(), known: MIGRATIONS.len() }
            }
        }
    }
}

async fn migrate_within(client: &Object, seal: &Seal, known: i32) -> Result<Migrated> {
    let found = found(client).await?;
    if let Some(why) = found.as_ref().and_then(|found| found.unusable(seal, known)) {
        return Ok(Migrated::Refused(why));
    }
    let version = found.map_or(0, |found| found.version);
    for migration in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        client.batch_execute(migration.sql).await?;
    }
    if version < known {
        let usable_from = MIGRATIONS.last().map_or(1, |migration| migration.usable_from);
        let check = seal.of(KEY_CHECK[0], &KEY_CHECK[1..]);
        let note = "INSERT INTO portcullis.ledger (id, version, usable_from, key_check) VALUES (1, $1, $2, $3) \
                    ON CONFLICT (id) DO UPDATE SET version = $1, usable_from = $2";
        client.execute(note, &[&known, &usable_from, &check.as_slice()]).await?;
    }
    Ok(Migrated::Ready)
}

/// Returns what the database says of its ledger. `None` if it has none.
async fn found(client: &Object) -> Result<Option<Found>> {
    let exists = client.query_one("SELECT to_regclass('portcullis.ledger') IS NOT NULL", &[]).await?;
    if !exists.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let row = client.query_opt("SELECT version, usable_from, key_check FROM portcullis.ledger", &[]).await?;
    let row = row.ok_or(DatabaseFault::NoRow)?;
    Ok(Some(Found { version: row.try_get(0)?, usable_from: row.try_get(1)?, key_check: row.try_get(2)? }))
}
