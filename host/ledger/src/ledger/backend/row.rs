//! Rows of a query.

use super::error::{DatabaseFault, Result};

/// A row of any database. A column is `None` if it is empty.
pub(in crate::ledger) trait SqlRow {
    /// Returns a whole number.
    fn integer(&self, column: usize) -> Result<Option<i64>>;
    /// Returns a truth value.
    fn truth(&self, column: usize) -> Result<Option<bool>>;
    /// Returns a text.
    fn text(&self, column: usize) -> Result<Option<String>>;
    /// Returns bytes.
    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>>;
}

/// A row, whose columns are read as the type that the caller expects.
pub(in crate::ledger) struct Row<'r>(pub(super) &'r dyn SqlRow);

impl Row<'_> {
    /// Returns a column.
    pub(in crate::ledger) fn get<T: Column>(&self, column: usize) -> Result<T> {
        T::read(self.0, column)
    }
}

/// The type of a column.
pub(in crate::ledger) trait Column: Sized {
    /// Reads a column.
    fn read(row: &dyn SqlRow, column: usize) -> Result<Self>;
}

impl Column for Option<i64> {
    fn read(row: &dyn SqlRow, column: usize) -> Result<Self> {
        row.integer(column)
    }
}

impl Column for Option<String> {
    fn read(row: &dyn SqlRow, column: usize) -> Result<Self> {
        row.text(column)
    }
}

impl Column for i64 {
    fn read(row: &dyn SqlRow, column: usize) -> Result<Self> {
        row.integer(column)?.ok_or(DatabaseFault::EmptyColumn(column))
    }
}

impl Column for bool {
    fn read(row: &dyn SqlRow, column: usize) -> Result<Self> {
        row.truth(column)?.ok_or(DatabaseFault::EmptyColumn(column))
    }
}

impl Column for String {
    fn read(row: &dyn SqlRow, column: usize) -> Result<Self> {
        row.text(column)?.ok_or(DatabaseFault::EmptyColumn(column))
    }
}

impl Column for Vec<u8> {
    fn read(row: &dyn SqlRow, column: usize) -> Result<Self> {
        row.bytes(column)?.ok_or(DatabaseFault::EmptyColumn(column))
    }
}
