//! SQLite, as far as this crate uses it. Only this file names rusqlite.

#[cfg(not(feature = "sqlite"))]
pub(super) use super::absent::*;
#[cfg(feature = "sqlite")]
pub(super) use rusqlite::{
    Connection, Error, ErrorCode, OptionalExtension, Params, Result, Row, ToSql, Transaction, TransactionBehavior,
    params, types,
};

/// Opens a database file that exists.
#[cfg(feature = "sqlite")]
pub(super) fn open_file(path: &std::path::Path) -> Result<Connection> {
    use rusqlite::OpenFlags;
    use std::time::Duration;

    /// How long a process waits for another one that writes. A transaction takes a few milliseconds.
    const BUSY_TIME: Duration = Duration::from_secs(10);
    /// Size of the cache of prepared statements. All statements fit.
    const STATEMENTS: usize = 64;

    // Not read-only, because SQLite could not then read a write-ahead log of another process.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIME)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}
