//! Values of a statement.

/// A value of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::ledger) enum SqlValue<'a> {
    /// No value.
    Null,
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl From<bool> for SqlValue<'_> {
    fn from(value: bool) -> Self {
        Self::Truth(value)
    }
}

impl From<i64> for SqlValue<'_> {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a String> for SqlValue<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a [u8]> for SqlValue<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Bytes(value)
    }
}

impl<'a> From<&'a Option<String>> for SqlValue<'a> {
    fn from(value: &'a Option<String>) -> Self {
        value.as_deref().into()
    }
}

impl<'a> From<Option<&'a str>> for SqlValue<'a> {
    fn from(value: Option<&'a str>) -> Self {
        value.map_or(Self::Null, Self::Text)
    }
}

impl From<Option<i64>> for SqlValue<'_> {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Integer)
    }
}

/// Returns the values of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::ledger::backend::SqlValue::from($value)),*]
    };
}
pub(in crate::ledger) use params;
