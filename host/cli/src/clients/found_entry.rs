//! The server's entry as it was found in a configuration, and why a configuration cannot be merged.

use super::entry::EntryValue;

/// The name of the server in every configuration.
pub(crate) const SERVER_NAME: &str = "portcullis";

/// Why a configuration cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MergeError {
    /// The text has an error.
    #[error("it has an error: {0}")]
    Syntax(String),
    /// A member that holds the servers is something else.
    #[error("its `{0}` is not a table of servers")]
    Shape(String),
    /// A member exists twice, and agents differ in which one they use.
    #[error("it has `{0}` twice")]
    Twice(String),
}

/// The server's entry in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundEntry {
    /// The program and its arguments, as far as they are text.
    pub(super) words: Vec<String>,
    /// Whether it has exactly the members that were expected.
    pub(super) is_expected: bool,
}

/// The members of an entry, in order.
pub(super) type Members = Vec<(&'static str, EntryValue)>;
