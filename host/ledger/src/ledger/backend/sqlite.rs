//! The ledger in a SQLite file, which the processes of one state directory share.

mod schema;

use super::contract::{Durable, Ending, LEDGER_FILE, LedgerDatabase, SqlTransaction, system_time};
use super::error::Result;
use super::row::SqlRow;
use super::value::{SqlValue, params};
use crate::ledger::error::LedgerError;
use crate::ledger::owner::{self, Lease};
use crate::state_directory::HostDirectories;
use portcullis_policy::recovery::RecoverMutex;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params_from_iter};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long a known version of the ledger is reused. Hundreds of waiting calls then only read it ten times per second.
const VERSION_AGE: Duration = Duration::from_millis(50);

/// How long a process waits for another one that writes. A transaction takes a few milliseconds.
const BUSY_TIME: Duration = Duration::from_secs(10);

/// Size of the cache of prepared statements. All statements fit.
const STATEMENTS: usize = 64;

/// The ledger's file.
pub(super) struct SqliteDatabase {
    connection: Mutex<Connection>,
    version: Mutex<Option<(Instant, i64)>>,
}

impl SqliteDatabase {
    /// Opens the file, creates it if it does not exist, and migrates it to the newest schema.
    pub(super) fn open(state: &HostDirectories) -> std::result::Result<Self, LedgerError> {
        use cap_std::fs::{OpenOptions, OpenOptionsExt};
        // SQLite only takes a path. Create the file here first, so that it is private and no link is followed.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        match state.directory.open_with(LEDGER_FILE, &options) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
        let mut connection = open_file(&state.path.join(LEDGER_FILE))?;
        // One process at a time, because SQLite does not wait for another one that turns on the write-ahead log.
        let alone = owner::alone(&owner::directory(&state.directory)?)?;
        schema::prepare(&mut connection)?;
        drop(alone);
        Ok(Self { connection: Mutex::new(connection), version: Mutex::new(None) })
    }

    fn changed(&self, durable: Durable, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> rusqlite::Result<()> {
        let mut connection = self.connection.lock_recovered();
        // With a write-ahead log, FULL syncs at each commit, and NORMAL only at a checkpoint (PRAGMA synchronous).
        let synchronous = match durable {
            Durable::Process => "NORMAL",
            Durable::Machine => "FULL",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        // Take the write lock now. A transaction that reads first fails if another process writes in between.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        match work(&transaction) {
            Ending::Commit => transaction.commit(),
            Ending::RollBack => transaction.rollback(),
        }
    }
}

impl LedgerDatabase for SqliteDatabase {
    fn change(&self, durable: Durable, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()> {
        self.changed(durable, work)?;
        // Waiting calls of this process must see the change too, so forget the known version. The connection is
        // released: `version` takes these two locks in the other order.
        *self.version.lock_recovered() = None;
        Ok(())
    }

    fn look(&self, work: &mut dyn FnMut(&dyn SqlTransaction)) -> Result<()> {
        let mut connection = self.connection.lock_recovered();
        work(&connection.transaction()?);
        Ok(())
    }

    /// Returns `None` while another thread uses the connection, because that thread may wait for another process.
    fn version(&self) -> Result<Option<i64>> {
        let Some(mut known) = self.version.try_lock_recovered() else { return Ok(None) };
        if let Some((at, version)) = *known
            && at.elapsed() < VERSION_AGE
        {
            return Ok(Some(version));
        }
        let Some(connection) = self.connection.try_lock_recovered() else { return Ok(None) };
        // `data_version` counts changes of other connections, `total_changes` those of this one.
        let others: i64 = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        let version = others.wrapping_mul(1 << 32).wrapping_add(i64::try_from(connection.total_changes()).unwrap_or(0));
        *known = Some((Instant::now(), version));
        Ok(Some(version))
    }

    /// Returns `None`, because the lock file of a process tells everyone who can open this file.
    fn lease(&self, _: &str, _: &[String]) -> Result<Option<Lease>> {
        Ok(None)
    }
}

impl SqlTransaction for Transaction<'_> {
    fn execute(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<u64> {
        Ok(self.prepare_cached(sql)?.execute(params_from_iter(values))? as u64)
    }

    fn query(&self, sql: &str, values: &[SqlValue<'_>], each: &mut dyn FnMut(&dyn SqlRow) -> Result<()>) -> Result<()> {
        let mut select = self.prepare_cached(sql)?;
        let mut rows = select.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            each(row)?;
        }
        Ok(())
    }

    fn now(&self) -> i64 {
        system_time()
    }

    fn is_leased(&self, _: &str) -> Result<bool> {
        Ok(false)
    }
}

impl SqlRow for rusqlite::Row<'_> {
    fn integer(&self, column: usize) -> Result<Option<i64>> {
        Ok(self.get(column)?)
    }

    fn truth(&self, column: usize) -> Result<Option<bool>> {
        Ok(self.get(column)?)
    }

    fn text(&self, column: usize) -> Result<Option<String>> {
        Ok(self.get(column)?)
    }

    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        Ok(self.get(column)?)
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Truth(value) => ValueRef::Integer(i64::from(*value)),
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

/// Reads a file that exists, if it has a table.
pub(super) fn peek(path: &Path, table: &str, work: &mut dyn FnMut(&dyn SqlTransaction)) -> Result<()> {
    let mut connection = open_file(path)?;
    let transaction = connection.transaction()?;
    let reader: &dyn SqlTransaction = &transaction;
    if reader.exists("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", params![table])? {
        work(reader);
    }
    Ok(())
}

/// Opens a database file that exists.
fn open_file(path: &Path) -> rusqlite::Result<Connection> {
    use rusqlite::OpenFlags;

    // Not read-only, because SQLite could not then read a write-ahead log of another process.
    // One thread at a time uses a connection, so SQLite needs no mutex of its own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIME)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}
