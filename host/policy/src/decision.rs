//! The answer of a policy: a decision, its source, and the reason.
//!
//! This file must not know how the decision is made.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::excerpt::Excerpt;
use crate::layer::Layer;

/// What happens to a call. A greater decision is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call runs.
    Allow,
    /// The call runs if an approver approves it.
    Ask,
    /// The call does not run.
    Deny,
}

impl Decision {
    /// Every decision, from the mildest to the strictest.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// Returns the word that policies and the audit log use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The error for a word that is not a decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not a decision")]
pub struct DecisionError {
    shown: Excerpt,
}

impl DecisionError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        "write one of `allow`, `ask`, `deny`"
    }
}

impl FromStr for Decision {
    type Err = DecisionError;

    fn from_str(text: &str) -> Result<Self, DecisionError> {
        let named = Self::ALL.into_iter().find(|decision| decision.as_str() == text);
        named.ok_or_else(|| DecisionError { shown: Excerpt::of(text) })
    }
}

/// Identifies a rule of a policy. Audit entries name it, and users find it by its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RuleId {
    /// The policy text that contains it.
    pub layer: Layer,
    /// The number of the rule in that text, counted from 1.
    pub number: usize,
    /// The line of the text on which the rule starts, counted from 1.
    pub line: usize,
}

impl fmt::Display for RuleId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "rule {} (line {})", self.number, self.line)?;
        match self.layer {
            Layer::BuiltIn => formatter.write_str(" of the built-in policy"),
            Layer::User => Ok(()),
            Layer::Project => formatter.write_str(" of the project's policy"),
        }
    }
}

/// The source of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// This rule decided. If several did, it is the first of them in the file.
    Rule(RuleId),
    /// No rule decided, so the default applies.
    Default,
    /// This layer pauses the policy, so no rule was asked.
    Paused(Layer),
}

/// The decision on a call, its source, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The rule or default that decided.
    pub source: Source,
    /// The reason as text. It is the rule's own reason if it gives one.
    #[serde(serialize_with = "as_text")]
    pub reason: Arc<str>,
}

fn as_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    // serde implements this for `Arc` only with its feature `rc`.
    serializer.serialize_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deny_is_stricter_than_ask_and_ask_is_stricter_than_allow() {
        assert!(Decision::Allow < Decision::Ask && Decision::Ask < Decision::Deny);
    }

    #[test]
    fn only_the_three_words_are_decisions() {
        for decision in Decision::ALL {
            assert_eq!(decision.as_str().parse(), Ok(decision));
            assert_eq!(serde_json::to_value(decision).unwrap(), decision.as_str());
        }
        for text in ["", "Allow", "allow ", "yes", "no", "off", "true"] {
            assert!(text.parse::<Decision>().is_err(), "{text:?}");
        }
    }
}
