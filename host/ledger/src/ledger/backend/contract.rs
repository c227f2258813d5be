//! What the ledger needs of a database.

use super::error::{DatabaseFault, Result};
use super::row::{Row, SqlRow};
use super::value::SqlValue;
use crate::ledger::owner::Lease;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// The file of the ledger, in the state directory.
pub(in crate::ledger) const LEDGER_FILE: &str = "ledger.sqlite";

/// What becomes of a transaction when its work has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ledger) enum Ending {
    /// All of its changes take effect.
    Commit,
    /// Its changes have no effect.
    RollBack,
}

/// How durable a change has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// It survives a crash of this process. For the use of approvals, and for stores of plugins.
    Process,
    /// It survives a crash of the machine. For requests, answers, and the start of calls.
    Machine,
}

/// A database that holds a ledger.
pub(in crate::ledger) trait LedgerDatabase: Send + Sync {
    /// Runs `work` once in a transaction, while no other process changes the ledger.
    fn change(&self, durable: Durable, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()>;

    /// Runs `work` once in a transaction that waits for no change of the ledger, and of which other hosts are not
    /// notified. Use it for what is no part of the state of approvals. If this fails, the work may have taken effect.
    fn note(&self, durable: Durable, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()> {
        self.change(durable, work)
    }

    /// Runs `work` once over a consistent snapshot. Others may write at the same time.
    fn look(&self, work: &mut dyn FnMut(&dyn SqlTransaction)) -> Result<()>;

    /// Returns a number that changes whenever this or another process has changed the ledger. It is cheap and never
    /// waits. `None` while that is not possible.
    fn version(&self) -> Result<Option<i64>>;

    /// Runs `work` once in a transaction that waits for other ones like it, and not for changes of the ledger. It
    /// survives a crash of this process. A file does not have what such transactions change.
    fn change_apart(&self, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()> {
        let _ = work;
        Err(DatabaseFault::GivenUp)
    }

    /// Returns a number that changes when another host may have sent a message. `None` if there are no other hosts.
    fn relay_news(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Returns the ports to which the process connects for the ledger.
    fn ports(&self) -> Vec<u16> {
        Vec::new()
    }

    /// Tells other machines that a process of this name runs, until the lease is dropped, and that `dead` ones do not.
    /// Returns `None` if a lock file tells everyone who uses the ledger.
    fn lease(&self, owner: &str, dead: &[String]) -> Result<Option<Lease>>;
}

/// A transaction that has begun.
pub(in crate::ledger) trait SqlTransaction {
    /// Runs a statement, and returns how many rows it changed.
    fn execute(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<u64>;

    /// Runs a query, and calls `each` with each row.
    fn query(&self, sql: &str, values: &[SqlValue<'_>], each: &mut dyn FnMut(&dyn SqlRow) -> Result<()>) -> Result<()>;

    /// Returns the time of the ledger's clock, in milliseconds since 1970. All hosts of a ledger have one clock.
    fn now(&self) -> i64;

    /// Returns whether another machine reported in time that the process of this name runs.
    fn is_leased(&self, owner: &str) -> Result<bool>;
}

/// What every transaction can do besides.
impl dyn SqlTransaction + '_ {
    /// Returns all rows of a query.
    pub(in crate::ledger) fn rows<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.query(sql, values, &mut |row| {
            rows.push(read(&Row(row))?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Returns the first row of a query, if it has one.
    pub(in crate::ledger) fn row<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.rows(sql, values, read)?.into_iter().next())
    }

    /// Returns the one row of a query that always has one.
    pub(in crate::ledger) fn only<T>(
        &self,
        sql: &str,
        values: &[SqlValue<'_>],
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.row(sql, values, read)?.ok_or(DatabaseFault::NoRow)
    }

    /// Returns whether a query has a row.
    pub(in crate::ledger) fn exists(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<bool> {
        Ok(self.row(sql, values, |_| Ok(()))?.is_some())
    }
}

/// Returns the system's time in milliseconds since 1970. A clock before 1970 reads as 1970: nothing has expired then,
/// and waiting calls still time out by the monotonic clock.
pub(super) fn system_time() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
