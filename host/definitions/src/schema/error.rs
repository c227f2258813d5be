//! The error for a schema that is refused.

/// Maximum length of one error, in bytes.
pub(super) const ERROR_BYTES_MAX: usize = 400;

/// The error for a schema that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is not a JSON document.
    #[error("it is not valid JSON: {0}")]
    NotJson(String),
    /// Checking it would cost too much, or it uses something that this host does not support.
    #[error("{0}")]
    Gate(String),
    /// It is not a JSON Schema.
    #[error("it is not a valid JSON Schema: {0}")]
    Invalid(String),
}
