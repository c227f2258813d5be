//! The database of a program that was built without the feature `sqlite`. It is empty, and cannot be written.
//!
//! No approval is found in it, none can be added, and so every call that must be asked about is refused.

use super::contract::{Durable, Ending, LEDGER_FILE, LedgerDatabase, SqlTransaction, system_time};
use super::error::{DatabaseFault, Result};
use super::row::SqlRow;
use super::value::SqlValue;
use crate::ledger::error::LedgerError;
use crate::ledger::owner::Lease;
use crate::state_directory::HostDirectories;
use std::io;

/// The empty database.
pub(super) struct AbsentDatabase;

impl AbsentDatabase {
    /// Returns the empty database. Refuses a state directory with a ledger: what was revoked there would not be known.
    pub(super) fn open(state: &HostDirectories) -> std::result::Result<Self, LedgerError> {
        match state.directory.symlink_metadata(LEDGER_FILE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self),
            Err(error) => Err(error.into()),
            Ok(_) => Err(DatabaseFault::NotBuiltIn("sqlite").into()),
        }
    }
}

impl LedgerDatabase for AbsentDatabase {
    fn change(&self, _: Durable, work: &mut dyn FnMut(&dyn SqlTransaction) -> Ending) -> Result<()> {
        // There is nothing to commit, because every statement that would change something fails.
        work(self);
        Ok(())
    }

    fn look(&self, work: &mut dyn FnMut(&dyn SqlTransaction)) -> Result<()> {
        work(self);
        Ok(())
    }

    fn version(&self) -> Result<Option<i64>> {
        Ok(Some(0))
    }

    fn lease(&self, _: &str, _: &[String]) -> Result<Option<Lease>> {
        Ok(None)
    }
}

impl SqlTransaction for AbsentDatabase {
    fn execute(&self, _: &str, _: &[SqlValue<'_>]) -> Result<u64> {
        Err(DatabaseFault::NotBuiltIn("sqlite"))
    }

    fn query(&self, _: &str, _: &[SqlValue<'_>], _: &mut dyn FnMut(&dyn SqlRow) -> Result<()>) -> Result<()> {
        Ok(())
    }

    fn now(&self) -> i64 {
        system_time()
    }

    fn is_leased(&self, _: &str) -> Result<bool> {
        Ok(false)
    }
}
