//! What an agent's configuration says about the server.

use serde_json::Value;
use std::path::PathBuf;

/// The command line that starts the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerCommand {
    /// The absolute path of the program.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
}

impl ServerCommand {
    /// Returns the path of the program as text. Names that are not UTF-8 cannot be written into a configuration.
    pub(crate) fn program_text(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}

/// A value of an entry, in the few kinds that agents need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryValue {
    Text(String),
    List(Vec<String>),
    Flag(bool),
}

impl EntryValue {
    /// Returns the value as JSON.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::List(texts) => Value::from(texts.clone()),
            Self::Flag(flag) => Value::from(*flag),
        }
    }
}

/// Returns the members `command` and `args`, which most agents use.
pub(super) fn command_and_args(command: &ServerCommand) -> Vec<(&'static str, EntryValue)> {
    vec![("command", EntryValue::Text(command.program_text())), ("args", EntryValue::List(command.arguments.clone()))]
}
