//! What a tool's author claims of it.
//!
//! Nobody has checked a claim: a rule may grow stricter by one and never milder. This file must not know rules.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;

/// A claim of a tool's author, for people and models to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// Changes nothing outside the sandbox.
    ReadOnly,
    /// May destroy something.
    Destructive,
    /// Twice is as once.
    Idempotent,
    /// Reaches beyond the host.
    OpenWorld,
    /// Not beside another call.
    Sequential,
}

impl Hint {
    /// Every hint, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::ReadOnly, Self::Destructive, Self::Idempotent, Self::OpenWorld, Self::Sequential];

    /// The word that manifests, policies and records use.
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

/// A word that names no hint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not a hint")]
pub struct HintError {
    shown: Excerpt,
}

impl HintError {
    /// What to write instead.
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
