//! Why the ledger cannot be used.

use std::fmt::Display;
use std::io;

/// Why the ledger cannot be used. A change that cannot be written has no effect.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// SQLite reports an error.
    #[error("the ledger cannot be used")]
    Sqlite(#[from] rusqlite::Error),
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

impl LedgerError {
    /// Creates an error for a row whose text cannot be parsed.
    pub(crate) fn form(id: &str, error: impl Display) -> Self {
        Self::Form { id: id.to_owned(), error: error.to_string() }
    }
}
