//! Adds the server's entry to the text of a configuration, finds it, and removes it. Everything else in the text stays as
//! it is.

use super::entry::EntryValue;
use super::facts::{ClientFacts, ConfigSyntax};
use super::{merge_json, merge_toml};

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

/// Returns the text with the server's entry, in place of an earlier entry.
pub(super) fn with_entry(facts: &ClientFacts, text: &str, members: &Members) -> Result<String, MergeError> {
    match facts.syntax {
        ConfigSyntax::Json => merge_json::with_entry(text, facts.servers, members),
        ConfigSyntax::Toml => merge_toml::with_entry(text, facts.servers, members),
    }
}

/// Returns the text without the server's entry. `None` if it has none.
pub(super) fn without_entry(facts: &ClientFacts, text: &str) -> Result<Option<String>, MergeError> {
    match facts.syntax {
        ConfigSyntax::Json => merge_json::without_entry(text, facts.servers),
        ConfigSyntax::Toml => merge_toml::without_entry(text, facts.servers),
    }
}

/// Finds the server's entry.
pub(super) fn entry(facts: &ClientFacts, text: &str, expected: &Members) -> Result<Option<FoundEntry>, MergeError> {
    match facts.syntax {
        ConfigSyntax::Json => merge_json::entry(text, facts.servers, expected),
        ConfigSyntax::Toml => merge_toml::entry(text, facts.servers, expected),
    }
}
