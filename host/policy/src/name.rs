//! The names in policies: plugins, tools and dependency keys.
//!
//! An invalid name is refused and never repaired, so that a thing has only one spelling. This file must not know what
//! the names are used for.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;

/// Maximum bytes of a name. An approval request shows it whole, and no host or file system shortens it.
pub const NAME_BYTES: usize = 64;

/// The error for a text that is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not {wanted}")]
pub struct NameError {
    shown: Excerpt,
    wanted: &'static str,
}

impl NameError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        "a name starts with a lower-case letter and holds at most 64 lower-case letters, digits, `-` and `_`; \
         a tool's full name is `plugin.tool`"
    }
}

/// Returns whether `text` is in the grammar `^[a-z][a-z0-9_-]{0,63}$`.
fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= NAME_BYTES
        && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.iter().all(|byte| is_name_byte(*byte))
}

/// Returns whether a name may contain `byte` after its first letter.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')
}

macro_rules! name {
    ($(#[$documentation:meta])* $name:ident, $wanted:literal) => {
        $(#[$documentation])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Parses `text` by the grammar `^[a-z][a-z0-9_-]{0,63}$`.
            ///
            /// # Errors
            ///
            /// The text is not in the grammar. It is not trimmed, lower-cased or otherwise repaired.
            pub fn new(text: &str) -> Result<Self, NameError> {
                if is_name(text) {
                    Ok(Self(Arc::from(text)))
                } else {
                    Err(NameError { shown: Excerpt::of(text), wanted: $wanted })
                }
            }

            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, formatter)
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.as_ref().to_owned()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// The name of a plugin, as policy and models spell it.
    PluginName, "a plugin's name"
}
name! {
    /// A tool's name within its plugin: `read` in `files.read`.
    LocalName, "a tool's name within its plugin"
}
name! {
    /// The key of a plugin's dependency: `workspace` in `directory.workspace`.
    DependencyKey, "a dependency's key"
}

name! {
    /// The name of a toolset: `coding` in `[toolset.coding]`.
    ToolsetName, "a toolset's name"
}

/// A tool's full name, `plugin.tool`. A clone copies two pointers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName {
    /// The plugin that offers the tool.
    pub plugin: PluginName,
    /// The tool's name within that plugin.
    pub tool: LocalName,
}

impl ToolName {
    /// Joins a plugin's name and the name of one of its tools.
    pub fn new(plugin: PluginName, tool: LocalName) -> Self {
        Self { plugin, tool }
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.plugin, self.tool)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{self}\"")
    }
}

impl FromStr for ToolName {
    type Err = NameError;

    /// Parses `plugin.tool`: two names with exactly one dot between them.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let refuse = || NameError { shown: Excerpt::of(text), wanted: "a tool's full name" };
        let (plugin, tool) = text.split_once('.').ok_or_else(refuse)?;
        match (PluginName::new(plugin), LocalName::new(tool)) {
            (Ok(plugin), Ok(tool)) => Ok(Self { plugin, tool }),
            (Err(_), _) | (_, Err(_)) => Err(refuse()),
        }
    }
}

impl TryFrom<String> for ToolName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_grammar_are_accepted_unchanged() {
        for text in ["a", "files", "a-b_c9", "x0", &"a".repeat(64)] {
            assert_eq!(PluginName::new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn names_outside_the_grammar_are_refused_and_never_repaired() {
        let long = "a".repeat(65);
        for text in ["", "A", "9a", "-a", "_a", "a.b", "a b", " a", "a\n", "a/b", "é", "a\0", "ａ", "a:b", "..", &long]
        {
            assert!(PluginName::new(text).is_err(), "{text:?}");
            assert!(LocalName::new(text).is_err(), "{text:?}");
            assert!(DependencyKey::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_full_name_has_exactly_one_dot_and_two_names() {
        let name: ToolName = "files.read".parse().unwrap();
        assert_eq!((name.to_string(), format!("{name:?}")), ("files.read".to_owned(), "\"files.read\"".to_owned()));
        for text in ["files", "files.", ".read", "files.read.x", "files..read", "Files.read", "files. read", "*.*"] {
            assert!(text.parse::<ToolName>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_refused_name_is_shown_escaped() {
        let refusal = PluginName::new("a\u{1b}[31m\n").unwrap_err().to_string();
        assert_eq!(refusal, r#""a\u{1b}[31m\n" is not a plugin's name"#);
    }

    #[test]
    fn a_full_name_is_serialized_as_one_string() {
        let name: ToolName = "files.read".parse().unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"files.read\"");
        assert_eq!(serde_json::from_str::<ToolName>("\"files.read\"").unwrap(), name);
        assert!(serde_json::from_str::<ToolName>("\"files\"").is_err());
    }
}
