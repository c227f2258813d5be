//! The hints of a tool: claims of its author about what it does.
//!
//! The host does not verify hints. So a hint can make a rule stricter, but never more permissive. This file must not
//! know rules.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;

/// A claim of a tool's author about the tool, for users and models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// The tool changes nothing outside the sandbox.
    ReadOnly,
    /// The tool may destroy data.
    Destructive,
    /// Calling the tool twice has the same effect as calling it once.
    Idempotent,
    /// The tool reaches beyond the host.
    OpenWorld,
    /// The tool must not run concurrently with other calls.
    Sequential,
}

impl Hint {
    /// Every hint, in display order.
    pub const ALL: [Self; 5] = [Self::ReadOnly, Self::Destructive, Self::Idempotent, Self::OpenWorld, Self::Sequential];

    /// Returns the word that manifests, policies and the audit log use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Destructive => "destructive",
            Self::Idempotent => "idempotent",
            Self::OpenWorld => "open-world",
            Self::Sequential => "sequential",
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The error for a word that is not a hint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not a hint")]
pub struct HintError {
    shown: Excerpt,
}

impl HintError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        "write one of `read-only`, `destructive`, `idempotent`, `open-world`, `sequential`"
    }
}

impl FromStr for Hint {
    type Err = HintError;

    fn from_str(text: &str) -> Result<Self, HintError> {
        let named = Self::ALL.into_iter().find(|hint| hint.as_str() == text);
        named.ok_or_else(|| HintError { shown: Excerpt::of(text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_five_words_are_hints() {
        for hint in Hint::ALL {
            assert_eq!(hint.as_str().parse(), Ok(hint));
            assert_eq!(serde_json::to_value(hint).unwrap(), hint.as_str());
            assert_eq!(hint.to_string(), hint.as_str());
        }
        for text in ["", "Destructive", "read_only", "readonly", "destructive "] {
            let error = text.parse::<Hint>().unwrap_err();
            assert!(error.remedy().contains("`destructive`"), "{text:?}");
        }
    }
}
