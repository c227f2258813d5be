//! A JSON Pointer (RFC 6901) to one argument.
//!
//! It must not know what is narrowed by the argument.

use std::fmt;

use serde_json::{Map, Value};

use crate::argument::{ArgumentKey, ArgumentKeyError, Found};

/// A JSON Pointer to the argument that a grant is narrowed by, such as `/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer(ArgumentKey);

/// Why a text is no pointer to an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// It does not begin with a slash.
    #[error("this is no JSON pointer")]
    Slash,
    /// It is too long, holds a control character, or a wrong escape.
    #[error(transparent)]
    Key(#[from] ArgumentKeyError),
}

impl PointerError {
    /// What to write instead.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Slash => "write a slash and the name of the argument, such as \"/path\"",
            Self::Key(error) => error.remedy(),
        }
    }
}

impl Pointer {
    /// Reads a pointer.
    ///
    /// # Errors
    ///
    /// When it does not begin with a slash, is longer than [`crate::ARGUMENT_KEY_BYTES`], or holds a control character
    /// or a `~` that escapes nothing.
    pub fn new(text: &str) -> Result<Self, PointerError> {
        if !text.starts_with('/') {
            return Err(PointerError::Slash);
        }
        Ok(Self(ArgumentKey::new(text)?))
    }

    /// The text it points to in validated arguments; none where there is nothing, or something that is no text.
    pub fn text<'a>(&self, arguments: &'a Map<String, Value>) -> Option<&'a str> {
        match self.0.find(arguments) {
            Found::Value(Value::String(text)) => Some(text),
            Found::Value(_) | Found::Missing | Found::Unreachable => None,
        }
    }

    /// The name of the argument at the top that it goes through, without escapes.
    pub fn argument(&self) -> &str {
        self.0.argument().unwrap_or_default()
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_str())
    }
}
