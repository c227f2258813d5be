//! A transaction of PostgreSQL. All of its changes take effect or none, even if the connection is lost during the
//! commit.

use super::connections::{Connections, REACH_TIME};
use super::lease::LEASE_TIME;
use super::statement::dialect;
use crate::ledger::backend::contract::SqlTransaction;
use crate::ledger::backend::error::{DatabaseFault, Result};
use crate::ledger::backend::row::SqlRow;
use crate::ledger::backend::value::{SqlValue, params};
use deadpool_postgres::Object;
use std::cell::Cell;
use std::time::{Duration, Instant};
use tokio_postgres::types::ToSql;

/// Begins a change, after those of other hosts: it takes a lock of the database for the length of the transaction. The
/// number of the lock is "portcull" in ASCII.
const BEGIN_CHANGE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(8101820098873224300)";

/// Begins to read a snapshot.
const BEGIN_LOOK: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// What a change asks at its beginning: the time, and how the database knows the change.
const BEGUN_CHANGE: &str = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), \
                            pg_current_xact_id()::text, pg_backend_pid()";

/// What a look asks at its beginning.
const BEGUN_LOOK: &str = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), '0', pg_backend_pid()";

/// Commits, and tells every host that something has changed.
const COMMIT_AND_TELL: &str = "NOTIFY portcullis_ledger; COMMIT";

/// How long a host asks whether a change was made, if the connection was lost meanwhile. A restart of a database and
/// a change of its primary take less.
const RECOVER_TIME: Duration = Duration::from_secs(90);

/// Pause between two of these questions.
const RECOVER_PAUSE: Duration = Duration::from_millis(100);

/// After how long of these questions the old connection is ended by the database.
const UNDECIDED_TIME: Duration = Duration::from_secs(2);

/// A transaction that has begun.
pub(super) struct PostgresTransaction<'d> {
    connections: &'d Connections,
    /// `None` once it has ended, or if the connection is lost.
    client: Option<Object>,
    now: i64,
    /// The number of the change, for the database.
    number: String,
    /// The process of the database that serves the connection.
    process: i64,
    has_changed: Cell<bool>,
    has_failed: Cell<bool>,
}

impl<'d> PostgresTransaction<'d> {
    /// Begins a change, after those of other hosts.
    pub(super) fn change(connections: &'d Connections) -> Result<Self> {
        Self::begin(connections, BEGIN_CHANGE, BEGUN_CHANGE)
    }

    /// Begins to read a snapshot.
    pub(super) fn look(connections: &'d Connections) -> Result<Self> {
        Self::begin(connections, BEGIN_LOOK, BEGUN_LOOK)
    }

    fn begin(connections: &'d Connections, begin: &str, begun: &str) -> Result<Self> {
        let (client, row) = connections.reach(REACH_TIME, &async |client: &Object| {
            let begun = client.prepare_cached(begun).await?;
            // Both are sent at once, and the database runs them in this order.
            let (begun_first, row) = tokio::join!(client.batch_execute(begin), client.query_one(&begun, &[]));
            begun_first?;
            Ok(row?)
        })?;
        let (now, number) = (row.try_get(0)?, row.try_get(1)?);
        let process = SqlRow::integer(&row, 2)?.unwrap_or_default();
        let (has_changed, has_failed) = (Cell::new(false), Cell::new(false));
        Ok(Self { connections, client: Some(client), now, number, process, has_changed, has_failed })
    }

    /// Commits the changes. If the connection is lost meanwhile, asks the database whether they were made.
    pub(super) fn commit(mut self) -> Result<()> {
        if self.has_failed.get() {
            // The database would roll back and not call it an error.
            self.end();
            return Err(DatabaseFault::Unknown);
        }
        let Some(client) = self.client.take() else { return Err(DatabaseFault::Unknown) };
        let commit = if self.has_changed.get() { COMMIT_AND_TELL } else { "COMMIT" };
        match self.connections.wait(async { Ok(client.batch_execute(commit).await?) }) {
            Ok(()) => {
                self.connections.news.note();
                Ok(())
            }
            Err(fault) => {
                drop(Object::take(client));
                if fault.is_unreachable() { self.recover() } else { Err(fault) }
            }
        }
    }

    /// Ends the transaction without its changes.
    pub(super) fn roll_back(mut self) {
        self.end();
    }

    /// Finds out whether the changes were made.
    fn recover(&self) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < RECOVER_TIME {
            let status = self.connections.reach(RECOVER_TIME, &async |client: &Object| {
                let select = client.prepare_cached("SELECT pg_xact_status(CAST($1 AS text)::xid8)").await?;
                let status: Option<String> = client.query_one(&select, &[&self.number]).await?.try_get(0)?;
                if status.as_deref() == Some("in progress") && begun.elapsed() > UNDECIDED_TIME {
                    // The database still waits for the lost connection.
                    let end = client.prepare_cached("SELECT pg_terminate_backend(CAST($1 AS int))").await?;
                    client.query_one(&end, &[&SqlValue::Integer(self.process)]).await?;
                }
                Ok(status)
            })?;
            match status.1.as_deref() {
                Some("committed") => {
                    self.connections.news.note();
                    return Ok(());
                }
                Some("aborted") => {
                    return Err(self.connections.unreachable(begun.elapsed(), "the connection was lost"));
                }
                Some("in progress") => std::thread::sleep(RECOVER_PAUSE),
                Some(_) | None => return Err(DatabaseFault::Unknown),
            }
        }
        Err(DatabaseFault::Unknown)
    }

    fn end(&mut self) {
        let Some(client) = self.client.take() else { return };
        if self.connections.wait(async { Ok(client.batch_execute("ROLLBACK").await?) }).is_err() {
            drop(Object::take(client));
        }
    }

    /// Runs a statement on the connection. Loses the connection if it is not answered.
    fn run<T>(&self, work: impl AsyncFnOnce(&Object) -> Result<T>) -> Result<T> {
        let Some(client) = &self.client else { return Err(DatabaseFault::Unknown) };
        let done = self.connections.wait(work(client));
        if done.is_err() {
            self.has_failed.set(true);
        }
        done
    }
}

impl Drop for PostgresTransaction<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

impl SqlTransaction for PostgresTransaction<'_> {
    fn execute(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<u64> {
        self.has_changed.set(true);
        self.run(async |client: &Object| {
            let statement = client.prepare_cached(&dialect(sql)).await?;
            Ok(client.execute(&statement, &values_of(values)).await?)
        })
    }

    fn query(&self, sql: &str, values: &[SqlValue<'_>], each: &mut dyn FnMut(&dyn SqlRow) -> Result<()>) -> Result<()> {
        if !sql.starts_with("SELECT") {
            self.has_changed.set(true);
        } else if values.iter().any(|value| matches!(value, SqlValue::Text(text) if text.contains('\0'))) {
            // No text of PostgreSQL has this character, so no row is the one that is asked for.
            return Ok(());
        }
        let rows = self.run(async |client: &Object| {
            let statement = client.prepare_cached(&dialect(sql)).await?;
            Ok(client.query(&statement, &values_of(values)).await?)
        })?;
        rows.iter().try_for_each(|row| each(row))
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn is_leased(&self, owner: &str) -> Result<bool> {
        let transaction: &dyn SqlTransaction = self;
        let select = "SELECT 1 FROM host, contact WHERE host.id = ?1 AND (alive_until > ?2 OR since > ?3)";
        transaction.exists(select, params![owner, self.now, self.now - LEASE_TIME])
    }
}

fn values_of<'v>(values: &'v [SqlValue<'v>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
