//! The server's entry as it was found in a configuration, and why a configuration cannot be merged.

use super::entry::EntryValue;
use serde_json::Value;

/// The name of the server in every configuration.
pub(crate) const SERVER_NAME: &str = "portcullis";

/// Members that change what an agent starts or connects to, of all agents. Any other member, such as a timeout, is the
/// user's own business.
const STARTING_MEMBERS: [&str; 13] = [
    "args",
    "command",
    "cwd",
    "env",
    "envFile",
    "env_vars",
    "environment",
    "httpUrl",
    "serverUrl",
    "tcp",
    "transport",
    "type",
    "url",
];

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
    /// The members besides those that were expected that change what is started.
    pub(super) also: Vec<String>,
    /// Whether it has the members that were expected, and no other that changes what is started.
    pub(super) is_expected: bool,
}

/// The members of an entry, in order.
pub(super) type Members = Vec<(&'static str, EntryValue)>;

impl FoundEntry {
    /// Compares the members of an entry with those that are expected.
    pub(super) fn of(members: &[(String, Value)], expected: &Members) -> Self {
        let named = |name: &'static str| {
            let members = members.iter().filter(move |(found, _)| found == name);
            members.map(|(_, value)| value)
        };
        // A member that exists twice is not as expected.
        let is_as = |(name, value): &(&'static str, EntryValue)| named(name).eq([&value.to_json()]);
        let also = members.iter().filter(|(name, value)| changes_start(name, value, expected));
        let also: Vec<String> = also.map(|(name, _)| name.clone()).collect();
        let words = ["command", "args"].into_iter().flat_map(named).flat_map(texts).collect();
        Self { words, is_expected: expected.iter().all(is_as) && also.is_empty(), also }
    }
}

/// Returns whether a member is not one of those that are expected, and changes what the agent starts.
pub(super) fn changes_start(name: &str, value: &Value, expected: &Members) -> bool {
    // Some agents write these themselves, and they change nothing.
    let is_idle = match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::String(text) => name == "type" && text == "stdio",
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    let is_expected = expected.iter().any(|(known, _)| *known == name);
    STARTING_MEMBERS.contains(&name) && !is_expected && !is_idle
}

/// Returns a text, or a list of texts.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(elements) => elements
            .iter()
            .map(|element| element.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}
