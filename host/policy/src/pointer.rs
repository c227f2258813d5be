//! A JSON Pointer (RFC 6901) to one argument.

use serde_json::{Map, Value};
use std::fmt;

/// A JSON Pointer to the argument that a grant is narrowed by, such as `/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer(Box<str>);

impl Pointer {
    /// The text it points to in validated arguments.
    pub fn text<'a>(&self, arguments: &'a Map<String, Value>) -> Option<&'a str> {
        let _ = arguments;
        None
    }

    /// The argument at the top that it goes through.
    pub fn argument(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
