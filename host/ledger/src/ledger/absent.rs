//! The database of a program that was built without the feature `sqlite`. It is empty, and cannot be written.
//!
//! It has the part of rusqlite's interface that this crate uses, so that the code of the ledger is the same with and
//! without the feature. No approval is found in it, none can be added, and so every call that must be asked about is
//! refused.

use std::convert::Infallible;
use std::iter::{Empty, empty};
use std::marker::PhantomData;
use std::ops::Deref;

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The statement writes.
    #[error("this program was built without the feature `sqlite`")]
    NotBuiltIn,
    /// The statement needs a row.
    #[error("this program was built without the feature `sqlite`: no row exists")]
    QueryReturnedNoRows,
    /// The type of a column. No row exists, so this never occurs.
    #[error("the column {0} ({1}) is not {2:?}")]
    InvalidColumnType(usize, String, types::Type),
}

impl Error {
    /// Returns SQLite's code of the error. There is none.
    pub(super) fn sqlite_error_code(&self) -> Option<ErrorCode> {
        None
    }
}

pub(super) type Result<T> = std::result::Result<T, Error>;

/// The types of columns that this crate names.
pub(super) mod types {
    /// The type of a column.
    #[derive(Debug)]
    pub enum Type {
        /// Text.
        Text,
    }
}

/// The codes of SQLite that this crate names.
#[expect(dead_code, reason = "no statement reaches SQLite, so none fails with a code")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorCode {
    DatabaseBusy,
    DatabaseLocked,
    DiskFull,
}

/// How a transaction begins.
pub(super) enum TransactionBehavior {
    Immediate,
}

/// A value of a statement. Any, because none is read.
pub(super) trait ToSql {}

impl<T: ?Sized> ToSql for T {}

/// The values of a statement. None is read.
pub(super) trait Params {}

impl Params for [&dyn ToSql; 0] {}
impl<T> Params for [T; 1] {}
impl<T> Params for [T; 2] {}
impl<T> Params for [T; 3] {}
impl Params for &[&dyn ToSql] {}

/// Returns the values of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$(&$value as &dyn $crate::ledger::sqlite::ToSql),*] as &[&dyn $crate::ledger::sqlite::ToSql]
    };
}
pub(super) use params;

/// Opens no file: what is in it would not be known.
pub(super) fn open_file(_: &std::path::Path) -> Result<Connection> {
    Err(Error::NotBuiltIn)
}

/// A connection to the empty database.
#[derive(Default)]
pub(super) struct Connection(());

impl Connection {
    pub(super) fn pragma_update(&self, _: Option<&str>, _: &str, _: impl ToSql) -> Result<()> {
        Ok(())
    }

    pub(super) fn pragma_query_value<T>(
        &self,
        _: Option<&str>,
        _: &str,
        _: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        Err(Error::QueryReturnedNoRows)
    }

    pub(super) fn total_changes(&self) -> u64 {
        0
    }

    pub(super) fn last_insert_rowid(&self) -> i64 {
        0
    }

    pub(super) fn transaction(&mut self) -> Result<Transaction<'_>> {
        Ok(Transaction(self))
    }

    pub(super) fn transaction_with_behavior(&mut self, _: TransactionBehavior) -> Result<Transaction<'_>> {
        Ok(Transaction(self))
    }

    pub(super) fn prepare(&self, _: &str) -> Result<Statement<'_>> {
        Ok(Statement(PhantomData))
    }

    pub(super) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        self.prepare(sql)
    }

    pub(super) fn execute(&self, _: &str, _: impl Params) -> Result<usize> {
        Err(Error::NotBuiltIn)
    }
}

/// A transaction of the empty database.
pub(super) struct Transaction<'c>(&'c Connection);

impl Transaction<'_> {
    pub(super) fn commit(self) -> Result<()> {
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

/// A statement, which finds nothing.
pub(super) struct Statement<'c>(PhantomData<&'c ()>);

impl Statement<'_> {
    pub(super) fn execute(&mut self, _: impl Params) -> Result<usize> {
        Err(Error::NotBuiltIn)
    }

    pub(super) fn exists(&mut self, _: impl Params) -> Result<bool> {
        Ok(false)
    }

    pub(super) fn query_row<T>(&mut self, _: impl Params, _: impl FnOnce(&Row<'_>) -> Result<T>) -> Result<T> {
        Err(Error::QueryReturnedNoRows)
    }

    pub(super) fn query_map<T>(
        &mut self,
        _: impl Params,
        _: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Empty<Result<T>>> {
        Ok(empty())
    }

    pub(super) fn query(&mut self, _: impl Params) -> Result<Rows> {
        Ok(Rows(()))
    }
}

/// No rows.
pub(super) struct Rows(());

impl Rows {
    pub(super) fn next(&mut self) -> Result<Option<&Row<'_>>> {
        Ok(None)
    }
}

/// A row. None exists.
pub(super) struct Row<'r>(Infallible, PhantomData<&'r ()>);

impl Row<'_> {
    pub(super) fn get<I, T>(&self, _: I) -> Result<T> {
        match self.0 {}
    }
}

/// Makes a missing row `None`.
pub(super) trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Error::QueryReturnedNoRows) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
