//! The database that holds the ledger: what the ledger needs of one, and the databases that offer it.
//!
//! A statement is one text for all databases. It uses the SQL that SQLite and PostgreSQL share, with parameters `?1` to
//! `?9`. [`postgres`] rewrites the few words in which they differ.

#[cfg(not(feature = "sqlite"))]
mod absent;
mod contract;
pub(super) mod error;
#[cfg(feature = "postgres")]
mod postgres;
mod row;
#[cfg(feature = "sqlite")]
mod sqlite;
mod value;

pub use contract::Durable;
pub(super) use contract::{Ending, LedgerDatabase, SqlTransaction};
pub use error::DatabaseError;
pub(super) use error::{DatabaseFault, Result};
pub(super) use row::Row;
pub(super) use value::{SqlValue, params};

use super::error::LedgerError;
use super::seal::Seal;
use crate::state_directory::{HostDirectories, LedgerPlace, PostgresAddress};
use contract::LEDGER_FILE;
use std::io;

/// Opens the ledger of a state directory, and migrates it to the newest schema.
pub(super) fn open(state: &HostDirectories, seal: &Seal) -> std::result::Result<Box<dyn LedgerDatabase>, LedgerError> {
    match &state.ledger {
        LedgerPlace::Directory => open_file(state),
        LedgerPlace::Postgres(address) => open_postgres(address, seal),
    }
}

#[cfg(feature = "sqlite")]
fn open_file(state: &HostDirectories) -> std::result::Result<Box<dyn LedgerDatabase>, LedgerError> {
    Ok(Box::new(sqlite::SqliteDatabase::open(state)?))
}

#[cfg(not(feature = "sqlite"))]
fn open_file(state: &HostDirectories) -> std::result::Result<Box<dyn LedgerDatabase>, LedgerError> {
    Ok(Box::new(absent::AbsentDatabase::open(state)?))
}

#[cfg(feature = "postgres")]
fn open_postgres(address: &PostgresAddress, seal: &Seal) -> std::result::Result<Box<dyn LedgerDatabase>, LedgerError> {
    Ok(Box::new(postgres::PostgresDatabase::open(address, seal)?))
}

#[cfg(not(feature = "postgres"))]
fn open_postgres(_: &PostgresAddress, _: &Seal) -> std::result::Result<Box<dyn LedgerDatabase>, LedgerError> {
    Err(DatabaseFault::NotBuiltIn("postgres").into())
}

/// Reads the ledger of a state directory as it is, if it has a table, and changes nothing. Returns whether there is a
/// ledger.
pub(super) fn peek(
    state: &HostDirectories,
    seal: &Seal,
    table: &str,
    work: &mut dyn FnMut(&dyn SqlTransaction),
) -> std::result::Result<bool, LedgerError> {
    if let LedgerPlace::Postgres(address) = &state.ledger {
        return peek_postgres(address, seal, table, work);
    }
    match state.directory.symlink_metadata(LEDGER_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    peek_file(state, table, work)?;
    Ok(true)
}

#[cfg(feature = "postgres")]
fn peek_postgres(
    address: &PostgresAddress,
    seal: &Seal,
    table: &str,
    work: &mut dyn FnMut(&dyn SqlTransaction),
) -> std::result::Result<bool, LedgerError> {
    postgres::peek(address, seal, table, work)
}

#[cfg(not(feature = "postgres"))]
fn peek_postgres(
    _: &PostgresAddress,
    _: &Seal,
    _: &str,
    _: &mut dyn FnMut(&dyn SqlTransaction),
) -> std::result::Result<bool, LedgerError> {
    Err(DatabaseFault::NotBuiltIn("postgres").into())
}

#[cfg(feature = "sqlite")]
fn peek_file(state: &HostDirectories, table: &str, work: &mut dyn FnMut(&dyn SqlTransaction)) -> Result<()> {
    sqlite::peek(&state.path.join(LEDGER_FILE), table, work)
}

#[cfg(not(feature = "sqlite"))]
fn peek_file(_: &HostDirectories, _: &str, _: &mut dyn FnMut(&dyn SqlTransaction)) -> Result<()> {
    Err(DatabaseFault::NotBuiltIn("sqlite"))
}
