//! Why the ledger cannot be used.

use super::sqlite::{self, ErrorCode};
use std::fmt::Display;
use std::io;

/// Why the ledger cannot be used. A change that cannot be written has no effect.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// SQLite reports an error.
    #[error("the ledger cannot be used")]
    Sqlite(#[source] SqliteError),
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
    /// A row cannot be read.
    #[error("the ledger's entry {id} cannot be read: {error}")]
    Form {
        /// The id of the row.
        id: String,
        /// The error.
        error: String,
    },
}

/// An error of SQLite. The library's own type is not part of the API, so that its version can change.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SqliteError(sqlite::Error);

impl From<sqlite::Error> for LedgerError {
    fn from(error: sqlite::Error) -> Self {
        Self::Sqlite(SqliteError(error))
    }
}

/// Creates an error for a row whose text cannot be parsed.
pub fn form_error(id: &str, error: impl Display) -> LedgerError {
    LedgerError::Form { id: id.to_owned(), error: error.to_string() }
}

/// Returns whether the ledger could not be used because others write to it.
pub fn is_busy(error: &LedgerError) -> bool {
    matches!(sqlite_code(error), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Returns whether the ledger could not be written because the disk is full.
pub fn is_disk_full(error: &LedgerError) -> bool {
    sqlite_code(error) == Some(ErrorCode::DiskFull)
}

fn sqlite_code(error: &LedgerError) -> Option<ErrorCode> {
    match error {
        LedgerError::Sqlite(SqliteError(error)) => error.sqlite_error_code(),
        LedgerError::Io(_)
        | LedgerError::Newer { .. }
        | LedgerError::Foreign
        | LedgerError::Seal(_)
        | LedgerError::RolledBack { .. }
        | LedgerError::Form { .. } => None,
    }
}
