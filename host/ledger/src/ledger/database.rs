//! The ledger: opening, reading and changing it, whatever database holds it.

use super::backend::{self, Durable, Ending, LedgerDatabase, SqlTransaction};
use super::error::LedgerError;
use super::owner::{LocalOwners, Owner};
use super::seal::Seal;
use crate::state_directory::HostDirectories;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Who uses a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerUsers {
    /// The processes of one state directory, with one audit log.
    OneDirectory,
    /// Hosts with state directories and audit logs of their own.
    ManyDirectories,
}

/// The ledger of a state directory.
pub struct CallLedger {
    pub(super) database: Box<dyn LedgerDatabase>,
    pub(super) seal: Seal,
    owners: LocalOwners,
    users: LedgerUsers,
    /// The newest generation that this process has seen.
    seen: AtomicU64,
}

impl CallLedger {
    /// Opens the ledger, and creates it if it does not exist.
    ///
    /// # Errors
    /// It cannot be opened, or the place is not a ledger.
    pub fn open(state: &HostDirectories) -> Result<Self, LedgerError> {
        let (owners, seal) = (LocalOwners::open(&state.directory)?, Seal::new(&state.ledger_key));
        let database = backend::open(state, &seal)?;
        let users = if state.shares_ledger() { LedgerUsers::ManyDirectories } else { LedgerUsers::OneDirectory };
        Ok(Self { database, seal, owners, users, seen: AtomicU64::new(0) })
    }

    /// Runs a write transaction. It is atomic, and no other process writes at the same time.
    ///
    /// # Errors
    /// `work` fails, or the change cannot be written. Nothing is changed then.
    pub fn change<T, E: From<LedgerError>>(
        &self,
        durable: Durable,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        Ok(self.run(durable, work)?.0)
    }

    /// Changes the ledger like [`CallLedger::change`] and returns what follows from the change. Use it for approvals. A
    /// ledger that is older than this process has seen is not changed.
    ///
    /// # Errors
    /// Those of [`CallLedger::change`], or the ledger was replaced by an older copy.
    pub fn commit<T, E: From<LedgerError>>(
        &self,
        durable: Durable,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
    ) -> Result<(T, Committed), E> {
        self.run(durable, |change| {
            // Check within the transaction, so that the rows that are checked are those that are changed.
            change.check_generation(self.seen.load(Ordering::Relaxed))?;
            work(change)
        })
    }

    fn run<T, E: From<LedgerError>>(
        &self,
        durable: Durable,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
    ) -> Result<(T, Committed), E> {
        // The generation changes in the same transaction, so no copy of the ledger has the change without it.
        let run = |change: &LedgerChange<'_>| work(change).and_then(|made| Ok((made, change.committed()?)));
        let done = self.within(run, |work| self.database.change(durable, work))?;
        if let Some(generation) = done.1.generation {
            self.has_seen(generation);
        }
        Ok(done)
    }

    /// Writes what is no part of the state of approvals, without waiting for other changes of a shared ledger. Other
    /// hosts are not notified.
    ///
    /// # Errors
    /// `work` fails, or the note cannot be written. If the connection was lost, it may have been written.
    pub fn note<T, E: From<LedgerError>>(
        &self,
        durable: Durable,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(work, |work| self.database.note(durable, work))
    }

    /// Runs work in the transaction that `transact` makes.
    pub(super) fn within<T, E: From<LedgerError>>(
        &self,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
        transact: impl FnOnce(&mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> backend::Result<()>,
    ) -> Result<T, E> {
        // The database is a trait object, so its functions cannot return the generic result. The closure passes it out.
        let (mut work, mut done) = (Some(work), None);
        let transacted = transact(&mut |transaction| {
            let made = work.take().map(|work| work(&self.of(transaction)));
            let ending = if matches!(made, Some(Ok(_))) { Ending::Commit } else { Ending::RollBack };
            done = made;
            ending
        });
        ended(transacted, done)
    }

    /// Reads a consistent snapshot of the ledger. Others may write at the same time.
    ///
    /// # Errors
    /// `work` fails, or the ledger cannot be read.
    pub fn look<T, E: From<LedgerError>>(&self, work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>) -> Result<T, E> {
        let (mut work, mut seen) = (Some(work), None);
        let looked = self.database.look(&mut |transaction| {
            seen = work.take().map(|work| work(&self.of(transaction)));
        });
        ended(looked, seen)
    }

    fn of<'c>(&'c self, transaction: &'c dyn SqlTransaction) -> LedgerChange<'c> {
        LedgerChange {
            transaction,
            seal: &self.seal,
            owners: &self.owners,
            sealed: Cell::new(false),
            posted: Cell::new(false),
        }
    }

    /// Notes that the ledger had this generation. An older one is not used any more.
    pub fn has_seen(&self, generation: u64) {
        // Relaxed, because the number only grows and protects no other data.
        self.seen.fetch_max(generation, Ordering::Relaxed);
    }

    /// Returns a number that changes whenever this or another process has changed the ledger. It is cheap and never
    /// blocks. Returns `None` while it is not known, because another thread uses the ledger.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn version(&self) -> Result<Option<i64>, LedgerError> {
        Ok(self.database.version()?)
    }

    /// Returns who uses this ledger.
    pub fn users(&self) -> LedgerUsers {
        self.users
    }

    /// Returns the ports to which the process connects for the ledger. Empty if it is a file.
    pub fn ports(&self) -> Vec<u16> {
        self.database.ports()
    }

    /// Registers this process as an owner of requests.
    ///
    /// # Errors
    /// Its lock file cannot be created, or the database cannot be told.
    pub fn owner(&self) -> Result<Owner, LedgerError> {
        let (owner, dead) = Owner::new(&self.owners)?;
        let lease = self.database.lease(owner.id(), &dead)?;
        Ok(owner.with(lease))
    }

    /// Returns whether a process of this state directory with this name still runs.
    pub fn is_alive(&self, owner: &str) -> bool {
        self.owners.is_alive(owner).unwrap_or(false)
    }
}

/// Returns what the work of a transaction returned, if the transaction ended well. The error of the work counts more
/// than one of rolling it back.
fn ended<T, E: From<LedgerError>>(transaction: backend::Result<()>, work: Option<Result<T, E>>) -> Result<T, E> {
    match (transaction, work) {
        (_, Some(Err(error))) => Err(error),
        (Err(fault), _) => Err(LedgerError::from(fault).into()),
        (Ok(()), Some(done)) => done,
        (Ok(()), None) => Err(LedgerError::from(backend::DatabaseFault::NoRow).into()),
    }
}

/// A change to the ledger that has begun.
pub struct LedgerChange<'c> {
    pub(super) transaction: &'c dyn SqlTransaction,
    pub(super) seal: &'c Seal,
    owners: &'c LocalOwners,
    /// Whether a sealed row was written.
    pub(super) sealed: Cell<bool>,
    /// Whether an entry was posted to the outbox.
    pub(super) posted: Cell<bool>,
}

impl LedgerChange<'_> {
    /// Returns the time of the ledger's clock, in milliseconds since 1970. All hosts of a ledger have one clock.
    pub fn now(&self) -> i64 {
        self.transaction.now()
    }

    /// Returns whether the process with this name still runs, on this machine or another.
    pub(super) fn is_alive(&self, owner: &str) -> Result<bool, LedgerError> {
        match self.owners.is_alive(owner) {
            Some(alive) => Ok(alive),
            // Without a lock file here, the process runs on another machine or not at all.
            None => Ok(self.transaction.is_leased(owner)?),
        }
    }

    /// Returns what follows from the change once it is committed.
    fn committed(&self) -> Result<Committed, LedgerError> {
        let generation = if self.sealed.get() { Some(self.advance()?) } else { None };
        Ok(Committed { generation, posted: self.posted.get() })
    }
}

/// The result of a committed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The new generation of the ledger, if the change made one.
    pub generation: Option<u64>,
    /// Whether entries wait in the outbox.
    pub posted: bool,
}

/// Converts a duration to milliseconds.
pub fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
