//! Why the ledger cannot be used.

use rusqlite::ErrorCode;
use std::fmt::Display;
use std::io;

/// Why the ledger cannot be used. What cannot be written there has no effect.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// SQLite says no.
    #[error("the ledger cannot be used: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The system says no.
    #[error("the ledger cannot be used: {0}")]
    Io(#[from] io::Error),
    /// A newer version of the host wrote it.
    #[error("the ledger has version {found}, and this host knows {known}: use the newer host")]
    Newer {
        /// The version of the file.
        found: usize,
        /// The newest version that is known.
        known: usize,
    },
    /// The file is something else.
    #[error("ledger.sqlite is not a ledger: move it aside to begin a new one")]
    Foreign,
    /// A row is not what this host wrote.
    #[error("the ledger's entry {0} was changed by another hand, or written under another key: it counts for nothing")]
    Seal(String),
    /// The file was replaced by an older copy while it was open.
    #[error(
        "the ledger was replaced by an older copy while it was in use (generation {found}, and this process has seen \
         {seen}): start again, and nothing in it will count"
    )]
    RolledBack {
        /// Its generation.
        found: u64,
        /// The newest generation that this process has seen.
        seen: u64,
    },
    /// A row cannot be read.
    #[error("the ledger's entry {id} cannot be read: {error}")]
    Form {
        /// Which.
        id: String,
        /// What is wrong with it.
        error: String,
    },
}

impl LedgerError {
    /// Whether others are writing to the ledger.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.sqlite_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Whether the disk is full.
    pub(crate) fn is_disk_full(&self) -> bool {
        self.sqlite_code() == Some(ErrorCode::DiskFull)
    }

    fn sqlite_code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sqlite(error) => error.sqlite_error_code(),
            Self::Io(_)
            | Self::Newer { .. }
            | Self::Foreign
            | Self::Seal(_)
            | Self::RolledBack { .. }
            | Self::Form { .. } => None,
        }
    }

    /// For an entry whose text is not what it should be.
    pub(crate) fn form(id: &str, error: impl Display) -> Self {
        Self::Form { id: id.to_owned(), error: error.to_string() }
    }
}
