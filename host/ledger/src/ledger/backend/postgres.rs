//! The ledger in a PostgreSQL database, which hosts on many machines share.
//!
//! Changes run one after another: each begins with a lock of the database, as SQLite's do. So the rules of the ledger
//! are the same in both, and no two hosts can spend one approval. The clock is the database's, so the clocks of the
//! hosts do not matter.
//!
//! The rest of the host calls this from threads that may block. The connections are driven by a thread of their own.

mod address;
mod connections;
pub(super) mod fault;
mod lease;
mod migrations;
mod news;
mod statement;
mod transaction;

use super::contract::{Durable, Ending, LedgerDatabase, SqlTransaction};
use super::error::Result;
use super::value::params;
use crate::ledger::error::LedgerError;
use crate::ledger::owner::Lease;
use crate::ledger::seal::Seal;
use crate::state_directory::PostgresAddress;
use connections::{Connections, REACH_TIME};
use deadpool_postgres::Object;
use tokio::sync::watch;
use transaction::PostgresTransaction;

/// The ledger's database.
pub(super) struct PostgresDatabase {
    connections: Connections,
}

impl PostgresDatabase {
    /// Opens the database, creates the ledger in it if there is none, and migrates it to the newest schema.
    pub(super) fn open(address: &PostgresAddress, seal: &Seal) -> std::result::Result<Self, LedgerError> {
        let target = address::parse(address)?;
        let connections = Connections::to(&target)?;
        connections.follow_news(target);
        migrations::migrate(&connections, seal)?;
        // A command may end before its first renewal, and asks which hosts run.
        drop(connections.reach(REACH_TIME, &async |client: &Object| lease::note_gap(client).await)?);
        if let Some(thread) = connections.handle() {
            drop(thread.spawn(connections.leases.renewals(connections.pool.clone())));
        }
        Ok(Self { connections })
    }
}

/// Reads the ledger as it is, if it has a table. Only reads: it neither migrates the ledger nor reports a process or a
/// gap to other hosts. Returns whether the database has a ledger.
pub(super) fn peek(
    address: &PostgresAddress,
    seal: &Seal,
    table: &str,
    work: &mut dyn FnMut(&dyn SqlTransaction),
) -> std::result::Result<bool, LedgerError> {
    let connections = Connections::to(&address::parse(address)?)?;
    if !migrations::is_there(&connections, seal)? {
        return Ok(false);
    }
    let transaction = PostgresTransaction::look(&connections)?;
    let reader: &dyn SqlTransaction = &transaction;
    // A ledger of an earlier version may not have the table.
    if reader.exists("SELECT 1 WHERE to_regclass(?1) IS NOT NULL", params![table])? {
        work(reader);
    }
    transaction.roll_back();
    Ok(true)
}

/// Runs work in a transaction that has begun, and ends the transaction.
fn end(transaction: PostgresTransaction<'_>, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()> {
    match work(&transaction) {
        Ending::Commit => transaction.commit()?,
        Ending::RollBack => transaction.roll_back(),
    }
    Ok(())
}

impl LedgerDatabase for PostgresDatabase {
    /// Every change survives a crash of the database's machine: it is not this host's to say that one matters less.
    fn change(&self, _: Durable, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()> {
        end(PostgresTransaction::change(&self.connections)?, work)
    }

    fn change_apart(&self, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()> {
        end(PostgresTransaction::change_apart(&self.connections)?, work)
    }

    fn relay_news(&self) -> Option<watch::Receiver<u64>> {
        Some(self.connections.news.relays())
    }

    fn note(&self, durable: Durable, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()> {
        end(PostgresTransaction::note(&self.connections, durable)?, work)
    }

    fn look(&self, work: &mut dyn FnMut(&dyn SqlTransaction)) -> Result<()> {
        let transaction = PostgresTransaction::look(&self.connections)?;
        work(&transaction);
        transaction.roll_back();
        Ok(())
    }

    fn version(&self) -> Result<Option<i64>> {
        Ok(self.connections.news.count())
    }

    fn ports(&self) -> Vec<u16> {
        self.connections.ports.clone()
    }

    fn lease(&self, owner: &str, dead: &[String]) -> Result<Option<Lease>> {
        let (client, ()) = self.connections.reach(REACH_TIME, &async |client: &Object| {
            lease::renew(client, &[owner.to_owned()]).await?;
            lease::end(client, dead).await
        })?;
        drop(client);
        let Connections { pool, leases, .. } = &self.connections;
        let hold = self.connections.handle().map(|thread| leases.hold(owner, pool, thread));
        Ok(hold.map(|hold| Lease(Box::new(hold))))
    }
}
