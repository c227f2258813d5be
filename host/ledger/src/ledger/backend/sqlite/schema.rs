//! The schema of the ledger. A file gets the newest version of it when it is opened.

use crate::ledger::error::LedgerError;
use rusqlite::{Connection, TransactionBehavior};

/// The application id of ledger files: "Port" in ASCII.
const APPLICATION_ID: i32 = 0x506f_7274;

/// The migrations to the newest schema. The version of a file is the number of migrations that it has had.
const MIGRATIONS: [&str; 7] = [
    include_str!("schema.sql"),
    include_str!("schema-2.sql"),
    include_str!("schema-3.sql"),
    include_str!("schema-4.sql"),
    include_str!("schema-5.sql"),
    include_str!("schema-6.sql"),
    include_str!("schema-7.sql"),
];

/// Migrates a file to the newest version.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), LedgerError> {
    // Check the file before any pragma, because turning on the write-ahead log would already write to a foreign file.
    version_of(connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // SQLite ignores foreign keys by default, and the entries of a store are deleted by one.
    connection.pragma_update(None, "foreign_keys", true)?;
    // Another program may have changed the file. Its views and triggers must not call functions with side effects.
    connection.pragma_update(None, "trusted_schema", false)?;
    // Overwrite the arguments of a settled request on disk, instead of only unlinking them.
    connection.pragma_update(None, "secure_delete", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = version_of(&transaction)?;
    for migration in &MIGRATIONS[version..] {
        transaction.execute_batch(migration)?;
    }
    if version < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX))?;
    }
    Ok(transaction.commit()?)
}

/// Returns the version of a ledger, or zero for an empty file.
fn version_of(connection: &Connection) -> Result<usize, LedgerError> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let version = usize::try_from(version).map_err(|_| LedgerError::Foreign)?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION_ID && (tables > 0 || version > 0) {
        return Err(LedgerError::Foreign);
    }
    if version > MIGRATIONS.len() {
        return Err(LedgerError::Newer { found: version, known: MIGRATIONS.len() });
    }
    Ok(version)
}
