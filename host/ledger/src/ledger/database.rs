//! The database file of the ledger: opening, reading and changing it.

use super::error::LedgerError;
use super::owner::{self, Owner};
use super::seal::Seal;
use super::sqlite::{Connection, Transaction, TransactionBehavior};
use crate::state_directory::HostDirectories;
use cap_std::fs::Dir;
use portcullis_policy::recovery::RecoverMutex;
use std::cell::Cell;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;

/// The file, in the state directory.
pub(super) const LEDGER_FILE: &str = "ledger.sqlite";

/// How long a known version of the ledger is reused. Hundreds of waiting calls then only read it ten times per second.
const VERSION_AGE: Duration = Duration::from_millis(50);

/// The ledger of a state directory.
pub struct CallLedger {
    connection: Mutex<Connection>,
    seal: Seal,
    owners: Dir,
    version: Mutex<Option<(Instant, i64)>>,
    /// The newest generation that this process has seen.
    seen: AtomicU64,
}

/// How durable a change has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// It survives a crash of this process. For the use of approvals, and for stores of plugins.
    Process,
    /// It survives a crash of the machine. For requests, answers, and the start of calls.
    Machine,
}

impl CallLedger {
    /// Opens the ledger, and creates it if it does not exist.
    ///
    /// # Errors
    /// It cannot be opened, or the file is not a ledger.
    pub fn open(state: &HostDirectories) -> Result<Self, LedgerError> {
        let owners = owner::directory(&state.directory)?;
        let connection = connect(state, &owners)?;
        let (connection, version) = (Mutex::new(connection), Mutex::new(None));
        Ok(Self { connection, seal: Seal::new(&state.key), owners, version, seen: AtomicU64::new(0) })
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
            change.check_generation(self.seen.load(Ordering::Relaxed))?;
            work(change)
        })
    }

    fn run<T, E: From<LedgerError>>(
        &self,
        durable: Durable,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
    ) -> Result<(T, Committed), E> {
        let done = self.run_alone(durable, work)?;
        if let Some(generation) = done.1.generation {
            self.has_seen(generation);
        }
        // Waiting calls of this process must see the change too, so forget the known version. Release the connection
        // first: `version` takes these two locks in the other order.
        *self.version.lock_recovered() = None;
        Ok(done)
    }

    fn run_alone<T, E: From<LedgerError>>(
        &self,
        durable: Durable,
        work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>,
    ) -> Result<(T, Committed), E> {
        let mut connection = self.connection.lock_recovered();
        let begun = self.begin(&mut connection, durable).map_err(E::from)?;
        let change = self.of(begun);
        let done = work(&change)?;
        let generation = if change.sealed.get() { Some(change.advance()?) } else { None };
        let committed = Committed { generation, posted: change.posted.get() };
        change.transaction.commit().map_err(|error| E::from(error.into()))?;
        Ok((done, committed))
    }

    /// Reads a consistent snapshot of the ledger. Others may write at the same time.
    ///
    /// # Errors
    /// `work` fails, or the ledger cannot be read.
    pub fn look<T, E: From<LedgerError>>(&self, work: impl FnOnce(&LedgerChange<'_>) -> Result<T, E>) -> Result<T, E> {
        let mut connection = self.connection.lock_recovered();
        let begun = connection.transaction().map_err(|error| E::from(error.into()))?;
        work(&self.of(begun))
    }

    fn of<'c>(&'c self, transaction: Transaction<'c>) -> LedgerChange<'c> {
        LedgerChange {
            transaction,
            seal: &self.seal,
            owners: &self.owners,
            sealed: Cell::new(false),
            posted: Cell::new(false),
        }
    }

    fn begin<'c>(&self, connection: &'c mut Connection, durable: Durable) -> Result<Transaction<'c>, LedgerError> {
        let synchronous = match durable {
            Durable::Process => "NORMAL",
            Durable::Machine => "FULL",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }

    /// Notes that the ledger had this generation. An older one is not used any more.
    pub fn has_seen(&self, generation: u64) {
        self.seen.fetch_max(generation, Ordering::Relaxed);
    }

    /// Returns a number that changes whenever this or another process has changed the ledger. It is cheap and never
    /// blocks. Returns `None` while another thread uses the ledger, because that thread may wait for another process.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn version(&self) -> Result<Option<i64>, LedgerError> {
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

    /// Registers this process as an owner of requests.
    ///
    /// # Errors
    /// Its lock file cannot be created.
    pub fn owner(&self) -> io::Result<Owner> {
        Owner::new(&self.owners)
    }

    /// Returns whether the process with this name still runs.
    pub fn is_alive(&self, owner: &str) -> bool {
        owner::is_alive(&self.owners, owner)
    }
}

/// Opens the file, creates it if it does not exist, and migrates it to the newest schema.
#[cfg(feature = "sqlite")]
fn connect(state: &HostDirectories, owners: &Dir) -> Result<Connection, LedgerError> {
    use cap_std::fs::{OpenOptions, OpenOptionsExt};
    // SQLite only takes a path. Create the file here first, so that it is private and no link is followed.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    match state.directory.open_with(LEDGER_FILE, &options) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        Ok(_) | Err(_) => {}
    }
    let mut connection = super::sqlite::open_file(&state.path.join(LEDGER_FILE))?;
    // One process at a time, because SQLite does not wait for another one that turns on the write-ahead log.
    let alone = owner::alone(owners)?;
    super::schema::prepare(&mut connection)?;
    drop(alone);
    Ok(connection)
}

/// Returns the empty database. Refuses a state directory with a ledger: what was revoked there would not be known.
#[cfg(not(feature = "sqlite"))]
fn connect(state: &HostDirectories, _: &Dir) -> Result<Connection, LedgerError> {
    match state.directory.symlink_metadata(LEDGER_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Connection::default()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(super::sqlite::Error::NotBuiltIn.into()),
    }
}

/// A change to the ledger that has begun.
pub struct LedgerChange<'c> {
    pub(super) transaction: Transaction<'c>,
    pub(super) seal: &'c Seal,
    pub(super) owners: &'c Dir,
    /// Whether a sealed row was written.
    pub(super) sealed: Cell<bool>,
    /// Whether an entry was posted to the outbox.
    pub(super) posted: Cell<bool>,
}

/// The result of a committed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The new generation of the ledger, if the change made one.
    pub generation: Option<u64>,
    /// Whether entries wait in the outbox.
    pub posted: bool,
}

/// Runs blocking work on a thread that may block. Work that has begun is finished, even if this future is dropped.
pub async fn blocking<T: Send + 'static, E: From<LedgerError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(LedgerError::Io(io::Error::other(error)).into()),
    }
}

/// Drops a value that writes to the disk when it is dropped, on a thread that may block.
pub fn drop_blocking(value: impl Send + 'static) {
    match Handle::try_current() {
        // If the runtime shuts down, it drops the closure and with it the value.
        Ok(runtime) => drop(runtime.spawn_blocking(move || drop(value))),
        // Outside of a runtime, no worker is blocked.
        Err(_) => drop(value),
    }
}

/// Returns the current time in milliseconds since 1970. A clock before 1970 reads as 1970: nothing has expired then,
/// and waiting calls still time out by the monotonic clock.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    milliseconds(since)
}

/// Converts a duration to milliseconds.
pub fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
