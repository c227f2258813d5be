//! A transaction of PostgreSQL. All of its changes take effect or none, even if the connection is lost during the
//! commit.

use super::connections::{Connections, REACH_TIME};
use super::statement::dialect;
use crate::ledger::backend::contract::{Durable, SqlTransaction};
use crate::ledger::backend::error::{DatabaseFault, Result};
use crate::ledger::backend::row::SqlRow;
use crate::ledger::backend::value::{SqlValue, params};
use crate::ledger::owner::{IS_LEASED, lease_times};
use deadpool_postgres::Object;
use portcullis_definitions::text::hex;
use std::cell::Cell;
use std::time::{Duration, Instant};
use tokio_postgres::types::ToSql;

/// Begins a change, after those of other hosts: it takes a lock of the database for the length of the transaction. The
/// number of the lock is "portcull" in ASCII.
const BEGIN_CHANGE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(8101820098873224300)";

/// Begins a note, which waits only for others that write the same rows.
const BEGIN_NOTE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Begins a note that need not survive a crash of the database, and so does not wait for its disk.
const BEGIN_QUICK_NOTE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off";

/// Begins a transaction on what does not belong to the approvals, after those of other hosts. It takes a lock of its
/// own.
const BEGIN_APART: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(8101820098873224302)";

/// Begins to read a snapshot.
const BEGIN_LOOK: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// What a transaction asks at its beginning: the time, and which process of the database serves it.
const BEGUN: &str = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), pg_backend_pid()";

/// Writes the token of a change, which is there exactly if the change was committed. The number of a transaction would
/// not tell: after a crash, the database can give it to another one.
const WRITE_TOKEN: &str = "INSERT INTO committed (token, at) \
                           VALUES ($1, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))";

/// Ends the process of the database that still serves a lost connection, if it holds the lock of changes.
const END_LOST: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks \
                        WHERE pid = CAST($1 AS int) AND locktype = 'advisory' AND granted";

/// Commits, and tells every host that something has changed.
const COMMIT_AND_TELL: &str = "NOTIFY portcullis_ledger; COMMIT";

/// How long a host asks whether a change was made, if the connection was lost meanwhile. A restart of a database and
/// a change of its primary take less.
const RECOVER_TIME: Duration = Duration::from_secs(90);

/// A transaction that has begun.
pub(super) struct PostgresTransaction<'d> {
    connections: &'d Connections,
    /// `None` once it has ended, or if the connection is lost.
    client: Option<Object>,
    now: i64,
    /// The token of a change. Empty for a look, a note, and a transaction apart from the approvals.
    token: String,
    /// The process of the database that serves the connection.
    process: i64,
    has_changed: Cell<bool>,
    has_failed: Cell<bool>,
}

impl<'d> PostgresTransaction<'d> {
    /// Begins a change, after those of other hosts.
    pub(super) fn change(connections: &'d Connections) -> Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| DatabaseFault::GivenUp)?;
        Self::begin(connections, BEGIN_CHANGE, hex(&bytes))
    }

    /// Begins a note, without the lock of changes.
    pub(super) fn note(connections: &'d Connections, durable: Durable) -> Result<Self> {
        let begin = match durable {
            Durable::Process => BEGIN_QUICK_NOTE,
            Durable::Machine => BEGIN_NOTE,
        };
        Self::begin(connections, begin, String::new())
    }

    /// Begins a transaction on what does not belong to the approvals, after those of other hosts.
    pub(super) fn change_apart(connections: &'d Connections) -> Result<Self> {
        Self::begin(connections, BEGIN_APART, String::new())
    }

    /// Begins to read a snapshot.
    pub(super) fn look(connections: &'d Connections) -> Result<Self> {
        Self::begin(connections, BEGIN_LOOK, String::new())
    }

    fn begin(connections: &'d Connections, begin: &str, token: String) -> Result<Self> {
        let (client, row) = connections.reach(REACH_TIME, &async |client: &Object| {
            let begun = client.prepare_cached(BEGUN).await?;
            let write = client.prepare_cached(WRITE_TOKEN).await?;
            let write = async {
                match token.is_empty() {
                    true => Ok(0),
                    false => client.execute(&write, &[&token]).await,
                }
            };
            // All are sent at once, and the database runs them in this order.
            let (begun_first, row, written) =
                tokio::join!(client.batch_execute(begin), client.query_one(&begun, &[]), write);
            begun_first?;
            written?;
            Ok(row?)
        })?;
        let now = row.try_get(0)?;
        let process = SqlRow::integer(&row, 1)?.unwrap_or_default();
        let (has_changed, has_failed) = (Cell::new(false), Cell::new(false));
        Ok(Self { connections, client: Some(client), now, token, process, has_changed, has_failed })
    }

    /// Commits the transaction. If the connection is lost meanwhile, asks the database whether a change was made.
    /// Anything else may then have taken effect, and is an error.
    pub(super) fn commit(mut self) -> Result<()> {
        if self.has_failed.get() {
            // The database would roll back and not call it an error.
            self.end();
            return Err(DatabaseFault::GivenUp);
        }
        let Some(client) = self.client.take() else { return Err(DatabaseFault::GivenUp) };
        let is_change = !self.token.is_empty();
        // A change that wrote nothing wakes no waiting call of any host.
        let commit = if is_change && self.has_changed.get() { COMMIT_AND_TELL } else { "COMMIT" };
        match self.connections.wait(async { Ok(client.batch_execute(commit).await?) }) {
            Ok(()) if !is_change => Ok(()),
            Ok(()) => {
                // Waiting calls of this process see the change at once, and not with the notification.
                self.connections.news.note();
                Ok(())
            }
            Err(fault) => {
                // The state of the connection is unknown, so it does not go back to the pool.
                drop(Object::take(client));
                if is_change && fault.is_unreachable() { self.recover() } else { Err(fault) }
            }
        }
    }

    /// Ends the transaction without its changes.
    pub(super) fn roll_back(mut self) {
        self.end();
    }

    /// Finds out whether the changes were made. Taking the lock of changes waits until the lost one has ended.
    fn recover(&self) -> Result<()> {
        let begun = Instant::now();
        let ask = async |client: &Object| {
            let end = client.prepare_cached(END_LOST).await?;
            client.query(&end, &[&SqlValue::Integer(self.process)]).await?;
            let select = client.prepare_cached("SELECT 1 FROM committed WHERE token = $1").await?;
            client.batch_execute(BEGIN_CHANGE).await?;
            let found = client.query_opt(&select, &[&self.token]).await?;
            client.batch_execute("ROLLBACK").await?;
            Ok(found.is_some())
        };
        let (client, is_made) = loop {
            match self.connections.reach(RECOVER_TIME, &ask) {
                // Changes of other hosts were first.
                Err(fault) if fault.is_busy() && begun.elapsed() < RECOVER_TIME => {}
                asked => break asked.map_err(|_| DatabaseFault::Unknown)?,
            }
        };
        drop(client);
        if !is_made {
            return Err(self.connections.unreachable(begun.elapsed(), "the connection was lost"));
        }
        self.connections.news.note();
        Ok(())
    }

    fn end(&mut self) {
        let Some(client) = self.client.take() else { return };
        // A connection that may still be in a transaction must not go back to the pool.
        if self.connections.wait(async { Ok(client.batch_execute("ROLLBACK").await?) }).is_err() {
            drop(Object::take(client));
        }
    }

    /// Runs a statement on the connection. Loses the connection if it is not answered.
    fn run<T>(&self, work: impl AsyncFnOnce(&Object) -> Result<T>) -> Result<T> {
        let Some(client) = &self.client else { return Err(DatabaseFault::GivenUp) };
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
        let select = format!("SELECT 1 FROM host WHERE {IS_LEASED} AND id = ?4");
        let [now, lease_ago, gap_ago] = lease_times(self.now);
        if transaction.exists(&select, params![now, lease_ago, gap_ago, owner])? {
            return Ok(true);
        }
        // This process runs. If its own lease has run out, the database was out of reach, and the leases of others say
        // no more than its own.
        let runs = "SELECT 1 FROM host WHERE id = ?1 AND alive_until > ?2";
        for own in self.connections.leases.owners() {
            if !transaction.exists(runs, params![own.as_str(), self.now])? {
                return transaction.exists("SELECT 1 FROM host WHERE id = ?1", params![owner]);
            }
        }
        Ok(false)
    }
}

fn values_of<'v>(values: &'v [SqlValue<'v>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
