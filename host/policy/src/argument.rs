//! The place in the arguments of a call that a rule checks: an argument by its name, or a place by a JSON pointer.
//!
//! This file must not know what a rule expects there.

use std::fmt;

use serde_json::{Map, Value};

/// Maximum bytes of a key. Names of arguments are words, and a pointer has a few of them.
pub const ARGUMENT_KEY_BYTES: usize = 256;

/// Why a text is not a key of a `when` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentKeyError {
    /// The key is empty.
    #[error("the name of the argument is empty")]
    Empty,
    /// The key is longer than [`ARGUMENT_KEY_BYTES`].
    #[error("the name of the argument is longer than {ARGUMENT_KEY_BYTES} bytes")]
    TooLong,
    /// The key contains a control character.
    #[error("the name of the argument contains a control character")]
    ControlCharacter,
    /// A `~` in a pointer is not followed by `0` or `1`.
    #[error("the JSON pointer contains a `~` without `0` or `1` after it")]
    Escape,
}

impl ArgumentKeyError {
    /// Returns how to fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Empty | Self::TooLong | Self::ControlCharacter => {
                "write the name of an argument, or a JSON pointer such as \"/options/path\""
            }
            Self::Escape => "write `~0` for `~` and `~1` for `/` within a name",
        }
    }
}

/// The place that a rule checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentKey {
    text: Box<str>,
    names: Vec<String>,
}

/// What a key finds in the arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FoundArgument<'a> {
    /// This value.
    Value(&'a Value),
    /// Nothing. The argument was omitted.
    Missing,
    /// A value on the path is neither an object nor an array with this index.
    Unreachable,
}

impl ArgumentKey {
    /// Parses a key: a JSON pointer if it starts with `/`, and otherwise the name of an argument.
    ///
    /// # Errors
    ///
    /// The key is empty or too long, or contains a control character or an invalid escape.
    pub fn new(text: &str) -> Result<Self, ArgumentKeyError> {
        if text.is_empty() {
            return Err(ArgumentKeyError::Empty);
        }
        if text.len() > ARGUMENT_KEY_BYTES {
            return Err(ArgumentKeyError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(ArgumentKeyError::ControlCharacter);
        }
        let names = match text.strip_prefix('/') {
            Some(pointer) => pointer.split('/').map(unescape).collect::<Result<_, _>>()?,
            None => vec![text.to_owned()],
        };
        Ok(Self { text: text.into(), names })
    }

    /// Returns the key as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the top-level argument that contains the place.
    pub(crate) fn argument(&self) -> Option<&str> {
        self.names.first().map(String::as_str)
    }

    /// Finds the place in `arguments`.
    pub(crate) fn find<'a>(&self, arguments: &'a Map<String, Value>) -> FoundArgument<'a> {
        let mut names = self.names.iter();
        let Some(first) = names.next() else { return FoundArgument::Missing };
        let Some(mut here) = arguments.get(first) else { return FoundArgument::Missing };
        for name in names {
            let next = match here {
                Value::Object(members) => members.get(name),
                Value::Array(elements) => match array_index(name) {
                    Some(index) => elements.get(index),
                    // Not missing: a tool may accept a list or a scalar in place of an object, so a rule that restricts
                    // must match.
                    None => return FoundArgument::Unreachable,
                },
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                    return FoundArgument::Unreachable;
                }
            };
            match next {
                Some(value) => here = value,
                None => return FoundArgument::Missing,
            }
        }
        FoundArgument::Value(here)
    }
}

impl fmt::Display for ArgumentKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = self.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if bare { formatter.write_str(&self.text) } else { write!(formatter, "\"{}\"", self.text.escape_debug()) }
    }
}

/// Removes the escapes from one name of a JSON pointer.
fn unescape(escaped: &str) -> Result<String, ArgumentKeyError> {
    let mut name = String::new();
    let mut characters = escaped.chars();
    while let Some(character) = characters.next() {
        match character {
            '~' => match characters.next() {
                Some('0') => name.push('~'),
                Some('1') => name.push('/'),
                Some(_) | None => return Err(ArgumentKeyError::Escape),
            },
            other => name.push(other),
        }
    }
    Ok(name)
}

/// Parses an array index. A leading zero or a sign is invalid.
fn array_index(name: &str) -> Option<usize> {
    let canonical = name == "0" || !name.starts_with('0');
    let digits = name.bytes().all(|byte| byte.is_ascii_digit());
    if canonical && digits { name.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pointer_finds_the_value_that_rfc_6901_defines() {
        let document = json!({"a": {"b": [10, {"c": 1}]}, "m~n": 8, "x/y": 9, "": 0, "s": "text", "n": null});
        let arguments = document.as_object().unwrap();
        let rows = [
            ("a", FoundArgument::Value(&document["a"])),
            ("/a/b/0", FoundArgument::Value(&document["a"]["b"][0])),
            ("/a/b/1/c", FoundArgument::Value(&document["a"]["b"][1]["c"])),
            ("/m~0n", FoundArgument::Value(&document["m~n"])),
            ("/x~1y", FoundArgument::Value(&document["x/y"])),
            ("x/y", FoundArgument::Value(&document["x/y"])),
            ("/", FoundArgument::Value(&document[""])),
            ("/a/z", FoundArgument::Missing),
            ("/a/b/9", FoundArgument::Missing),
            ("z", FoundArgument::Missing),
            ("/a/b/01", FoundArgument::Unreachable),
            ("/a/b/-", FoundArgument::Unreachable),
            ("/a/b/c", FoundArgument::Unreachable),
            ("/s/length", FoundArgument::Unreachable),
            ("/n/a", FoundArgument::Unreachable),
        ];
        for (text, expected) in rows {
            let key = ArgumentKey::new(text).unwrap();
            assert_eq!(key.find(arguments), expected, "{text:?}");
            assert_eq!(key.as_str(), text);
        }
    }

    #[test]
    fn malformed_keys_are_refused() {
        for text in ["", "a\n", "/~", "/~2", "/a~", &"a".repeat(ARGUMENT_KEY_BYTES + 1)] {
            assert!(ArgumentKey::new(text).is_err(), "{text:?}");
        }
    }
}
