//! Adds the server's entry to the text of a configuration, finds it, and removes it. Everything else in the text stays
//! as it is.

use super::client_facts::{ClientFacts, ConfigSyntax};
use super::found_entry::{FoundEntry, Members, MergeError, SERVER_NAME};
use super::{merge_json, merge_toml};

/// Returns the text with the server's entry, in place of an earlier entry.
pub(super) fn with_entry(facts: &ClientFacts, text: &str, members: &Members) -> Result<String, MergeError> {
    match facts.syntax {
        ConfigSyntax::Json => merge_json::with_entry(text, &[facts.servers], members),
        ConfigSyntax::Toml => merge_toml::with_entry(text, facts.servers, members),
    }
}

/// Returns the text without the server's entry. `None` if it has none.
pub(super) fn without_entry(facts: &ClientFacts, text: &str) -> Result<Option<String>, MergeError> {
    match facts.syntax {
        ConfigSyntax::Json => merge_json::without_entry(text, &[facts.servers], SERVER_NAME),
        ConfigSyntax::Toml => merge_toml::without_entry(text, facts.servers, SERVER_NAME),
    }
}

/// Finds the server's entry.
pub(super) fn entry(facts: &ClientFacts, text: &str, expected: &Members) -> Result<Option<FoundEntry>, MergeError> {
    match facts.syntax {
        ConfigSyntax::Json => merge_json::entry(text, &[facts.servers], expected),
        ConfigSyntax::Toml => merge_toml::entry(text, facts.servers, expected),
    }
}
