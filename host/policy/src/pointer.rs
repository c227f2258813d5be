//! A JSON Pointer (RFC 6901) to one argument.
//!
//! This file must not know what is narrowed to the argument.

use std::fmt;

use serde_json::{Map, Value};

use crate::argument::{ArgumentKey, ArgumentKeyError, FoundArgument};

/// A JSON Pointer to the argument that a handle is narrowed to, such as `/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer(ArgumentKey);

/// Why a text is not a pointer to an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// It does not start with a slash.
    #[error("this is not a JSON pointer")]
    Slash,
    /// It is too long, or contains a control character or an invalid escape.
    #[error(transparent)]
    Key(#[from] ArgumentKeyError),
}

impl PointerError {
    /// Returns how to fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Slash => "write a slash and the name of the argument, such as \"/path\"",
            Self::Key(error) => error.remedy(),
        }
    }
}

impl Pointer {
    /// Parses a pointer.
    ///
    /// # Errors
    ///
    /// The text does not start with a slash, is longer than [`crate::ARGUMENT_KEY_BYTES`], or contains a control
    /// character or a `~` without `0` or `1` after it.
    pub fn new(text: &str) -> Result<Self, PointerError> {
        if !text.starts_with('/') {
            return Err(PointerError::Slash);
        }
        Ok(Self(ArgumentKey::new(text)?))
    }

    /// Returns the text that it points to in validated arguments, or none if there is no text.
    pub fn text<'a>(&self, arguments: &'a Map<String, Value>) -> Option<&'a str> {
        match self.0.find(arguments) {
            FoundArgument::Value(Value::String(text)) => Some(text),
            FoundArgument::Value(_) | FoundArgument::Missing | FoundArgument::Unreachable => None,
        }
    }

    /// Returns the name of the top-level argument that it goes through, without escapes.
    pub fn argument(&self) -> &str {
        self.0.argument().unwrap_or_default()
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_str())
    }
}
