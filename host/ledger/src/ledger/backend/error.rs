//! Why a database fails.

use std::time::Duration;

/// The result of a statement.
pub(in crate::ledger) type Result<T> = std::result::Result<T, DatabaseFault>;

/// An error of the ledger's database. The types of its libraries are not part of the API, so that they can change.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DatabaseError(pub(in crate::ledger) DatabaseFault);

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub(in crate::ledger) enum DatabaseFault {
    /// SQLite reports an error.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL or its connection reports an error.
    #[cfg(feature = "postgres")]
    #[error("{}", super::postgres::fault::said(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The database did not answer in time.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a file always answers"))]
    #[error("the database at {place} cannot be reached for {} s: {why}", waited.as_secs())]
    Unreachable {
        /// Its address, without the password.
        place: String,
        /// How long the host tried.
        waited: Duration,
        /// The last error.
        why: String,
    },
    /// The connection was lost while a change was committed, and it is not known whether it took effect.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a file has no connection"))]
    #[error("the connection to the database was lost, and it is not known whether the change was made")]
    Unknown,
    /// A statement of a change failed, and the change was not made.
    #[error("the change was given up")]
    GivenUp,
    /// The program was built without this database.
    #[cfg_attr(all(feature = "postgres", feature = "sqlite"), expect(dead_code, reason = "both are built in"))]
    #[error("this program was built without the feature `{0}`")]
    NotBuiltIn(&'static str),
    /// A query that always has a row has none.
    #[error("a row is missing")]
    NoRow,
    /// A column that always has a value is empty.
    #[error("column {0} is empty")]
    EmptyColumn(usize),
    /// A column holds a word that this program does not know.
    #[error("column {0} holds an unknown word")]
    UnknownWord(usize),
    /// A column has another type.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "SQLite reports this itself"))]
    #[error("column {0} has another type")]
    ColumnType(usize),
}

impl DatabaseFault {
    /// Returns whether others keep the database busy.
    pub(in crate::ledger) fn is_busy(&self) -> bool {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(error) => {
                use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
                matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => error.code() == Some(&tokio_postgres::error::SqlState::LOCK_NOT_AVAILABLE),
            _ => false,
        }
    }

    /// Returns whether the disk of the database is full.
    pub(in crate::ledger) fn is_disk_full(&self) -> bool {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => error.code() == Some(&tokio_postgres::error::SqlState::DISK_FULL),
            _ => false,
        }
    }

    /// Returns whether the database may answer again later: it cannot be reached, or shuts down.
    pub(in crate::ledger) fn is_unreachable(&self) -> bool {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => super::postgres::fault::is_lost(error),
            Self::Unreachable { .. } | Self::Unknown => true,
            _ => false,
        }
    }
}
