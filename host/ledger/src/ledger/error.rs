//! Why the ledger cannot be used.

use super::backend::error::{DatabaseError, DatabaseFault};
use std::fmt::Display;
use std::io;

/// Why the ledger cannot be used. A change that cannot be written has no effect.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The database reports an error.
    #[error("the ledger cannot be used")]
    Database(#[source] DatabaseError),
    /// The system reports an error.
    #[error("the ledger cannot be used")]
    Io(#[from] io::Error),
    /// A newer version of the host wrote it.
    #[error("the ledger has version {found}, but this host only knows {known}: use a newer host")]
    Newer {
        /// The version of the file.
        found: usize,
        /// The newest version that is known.
        known: usize,
    },
    /// A host with another key wrote it.
    #[error(
        "the ledger at {place} was begun with another key: give this host the same one with `--ledger-key FILE`, \
         for example a copy of the file `key` in the state directory of a host that uses the ledger"
    )]
    OtherKey {
        /// The address of the ledger, without a password.
        place: String,
    },
    /// The address of the ledger cannot be used.
    #[error("the address of the ledger cannot be used: {0}")]
    Address(String),
    /// The file is something else.
    #[error("ledger.sqlite is not a ledger: move it away to start a new one")]
    Foreign,
    /// This host did not write the row as it is now.
    #[error("the ledger's entry {0} was changed by another program, or written with another key: it has no effect")]
    Seal(String),
    /// The file was replaced by an older copy while it was open.
    #[error(
        "the ledger was replaced by an older copy while it was in use (generation {found}; this process has seen \
         {seen}): restart the host, which then revokes everything in the older copy"
    )]
    RolledBack {
        /// The generation of the file.
        found: u64,
        /// The newest generation that this process has seen.
        seen: u64,
    },
    /// A shared ledger is older than this host's audit log says.
    #[error(
        "the shared ledger has generation {found}, but the audit log of this host knows generation {known}. If this \
         host used another ledger before, give it a new state directory. If the database was restored from a backup, \
         approvals that were spent or revoked could count again: drop its schema `portcullis` to begin a new ledger"
    )]
    Older {
        /// The generation of the ledger.
        found: u64,
        /// The generation that the audit log names.
        known: u64,
    },
    /// A row cannot be read.
    #[error("the ledger's entry {id} cannot be read: {error}")]
    Form {
        /// The id of the row.
        id: String,
        /// The error.
        error: String,
    },
}

impl From<DatabaseFault> for LedgerError {
    fn from(fault: DatabaseFault) -> Self {
        Self::Database(DatabaseError(fault))
    }
}

#[cfg(feature = "sqlite")]
impl From<rusqlite::Error> for LedgerError {
    fn from(error: rusqlite::Error) -> Self {
        DatabaseFault::from(error).into()
    }
}

/// Creates an error for a row whose text cannot be parsed.
pub fn form_error(id: &str, error: impl Display) -> LedgerError {
    LedgerError::Form { id: id.to_owned(), error: error.to_string() }
}

/// Returns whether the ledger could not be used because others write to it.
pub fn is_busy(error: &LedgerError) -> bool {
    fault(error).is_some_and(DatabaseFault::is_busy)
}

/// Returns whether the ledger could not be written because the disk is full.
pub fn is_disk_full(error: &LedgerError) -> bool {
    fault(error).is_some_and(DatabaseFault::is_disk_full)
}

/// Returns whether the ledger is in a database that cannot be reached at the moment.
pub fn is_unreachable(error: &LedgerError) -> bool {
    fault(error).is_some_and(DatabaseFault::is_unreachable)
}

fn fault(error: &LedgerError) -> Option<&DatabaseFault> {
    match error {
        LedgerError::Database(DatabaseError(fault)) => Some(fault),
        LedgerError::Io(_)
        | LedgerError::Newer { .. }
        | LedgerError::OtherKey { .. }
        | LedgerError::Address(_)
        | LedgerError::Foreign
        | LedgerError::Seal(_)
        | LedgerError::RolledBack { .. }
        | LedgerError::Older { .. }
        | LedgerError::Form { .. } => None,
    }
}
