//! Matches `when` tables against the arguments of a call.
//!
//! A rule is matched in one of two ways, and neither fails open.
//!
//! **Exactly**, if the rule would widen what may run: an `allow`, or an `ask` that would lift a `deny`. Only the raw
//! value counts. A text with a `.` or `..` segment, a backslash or a control character never matches. Neither does one
//! of more than [`MATCHED_TEXT_BYTES`]. An array matches if it is not empty and all of its elements match. All elements
//! together have the same maximum length as a text. A number matches only in its own representation, and within bounds
//! only if it can be compared exactly. A missing value does not match.
//!
//! **Widely**, if the rule would restrict it: a `deny`, or an `ask` that stops an `allow`. A text matches if its raw
//! form or its normalized path form does. Case, the composition of accents, and zero-width characters are ignored. A
//! text matches every pattern if it climbs above its root through `..`, has a NUL, or is too long to compare. An array
//! matches if any of its elements does. A value of another type than the rule expects (an object, null, a nested array,
//! a number in place of a text) matches, because the rule cannot be evaluated. So does a number that is too large to
//! compare. Only a missing value does not match.
//!
//! A value that matches exactly also matches widely. This file must not know decisions or tools.

use std::fmt;

use serde_json::{Map, Number, Value};

use crate::argument::{ArgumentKey, FoundArgument};
use crate::bounds::Bounds;
use crate::text::{MATCHED_TEXT_BYTES, Spellings, TextPattern};

/// How a rule is matched. See the head of this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleReading {
    /// As little as possible matches.
    Exact,
    /// As much as possible matches.
    Wide,
}

/// The conditions of a rule on the arguments. Every entry must match.
#[derive(Debug, Clone, PartialEq)]
pub struct When {
    entries: Vec<ArgumentCondition>,
}

/// The condition on one argument: it must have one of these values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ArgumentCondition {
    pub(crate) key: ArgumentKey,
    pub(crate) accepted: Vec<Accepted>,
}

/// One value that an argument may have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Accepted {
    Text(TextPattern),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Range(Bounds),
}

impl When {
    pub(crate) fn new(entries: Vec<ArgumentCondition>) -> Self {
        Self { entries }
    }

    /// Returns whether every entry matches.
    pub(crate) fn matches(&self, arguments: &Map<String, Value>, reading: RuleReading) -> bool {
        self.entries.iter().all(|entry| entry.matches(arguments, reading))
    }

    /// Returns whether some pattern has this segment, `.` or `..`, which exact matching never matches.
    pub(crate) fn names_dot_segment(&self, name: &str) -> bool {
        self.entries.iter().flat_map(|entry| &entry.accepted).any(|accepted| match accepted {
            Accepted::Text(pattern) => pattern.has_segment(name),
            Accepted::Integer(_) | Accepted::Float(_) | Accepted::Boolean(_) | Accepted::Range(_) => false,
        })
    }

    /// Returns whether exact matching can match every literal text.
    pub(crate) fn is_plain(&self) -> bool {
        self.entries.iter().flat_map(|entry| &entry.accepted).all(|accepted| match accepted {
            Accepted::Text(pattern) => pattern.is_plain(),
            Accepted::Integer(_) | Accepted::Float(_) | Accepted::Boolean(_) | Accepted::Range(_) => true,
        })
    }

    /// Returns the patterns of texts in the arguments with these names, without those that match the directory itself.
    pub(crate) fn patterns_of<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = String> + 'a {
        let named = |entry: &&ArgumentCondition| entry.key.argument().is_some_and(|argument| names.contains(&argument));
        self.entries.iter().filter(named).flat_map(|entry| &entry.accepted).filter_map(|accepted| match accepted {
            Accepted::Text(pattern) if !pattern.matches_widely(&Spellings::of(".")) => pattern.place(),
            Accepted::Text(_)
            | Accepted::Integer(_)
            | Accepted::Float(_)
            | Accepted::Boolean(_)
            | Accepted::Range(_) => None,
        })
    }

    /// Returns the arguments that a call must have for the table to match.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| entry.key.argument())
    }
}

impl ArgumentCondition {
    fn matches(&self, arguments: &Map<String, Value>, reading: RuleReading) -> bool {
        match (self.key.find(arguments), reading) {
            (FoundArgument::Value(value), RuleReading::Exact) => self.matches_exactly(value),
            (FoundArgument::Value(value), RuleReading::Wide) => self.matches_widely(value),
            (FoundArgument::Unreachable, RuleReading::Wide) => true,
            (FoundArgument::Unreachable, RuleReading::Exact) | (FoundArgument::Missing, _) => false,
        }
    }

    fn matches_exactly(&self, value: &Value) -> bool {
        match value {
            Value::Array(elements) => {
                // `all` is true for an empty array, which would then match every rule.
                !elements.is_empty()
                    && is_readable(elements)
                    && elements.iter().all(|element| self.scalar_matches_exactly(element))
            }
            scalar => self.scalar_matches_exactly(scalar),
        }
    }

    fn scalar_matches_exactly(&self, value: &Value) -> bool {
        self.accepted.iter().any(|accepted| match (accepted, value) {
            (Accepted::Text(pattern), Value::String(text)) => pattern.matches_exactly(text),
            (Accepted::Integer(integer), Value::Number(number)) => number.as_i64() == Some(*integer),
            // `as_f64` also converts integers, and rounds large ones.
            (Accepted::Float(float), Value::Number(number)) => number.is_f64() && number.as_f64() == Some(*float),
            (Accepted::Boolean(boolean), Value::Bool(value)) => boolean == value,
            (Accepted::Range(bounds), Value::Number(number)) => bounds.contain(number) == Some(true),
            (
                Accepted::Text(_)
                | Accepted::Integer(_)
                | Accepted::Float(_)
                | Accepted::Boolean(_)
                | Accepted::Range(_),
                _,
            ) => false,
        })
    }

    fn matches_widely(&self, value: &Value) -> bool {
        match value {
            Value::Array(elements) => {
                !is_readable(elements) || elements.iter().any(|element| self.scalar_matches_widely(element))
            }
            scalar => self.scalar_matches_widely(scalar),
        }
    }

    /// Returns whether a value matches an accepted value of its type. A value whose type is not accepted matches, too.
    fn scalar_matches_widely(&self, value: &Value) -> bool {
        let spellings = value.as_str().map(Spellings::of);
        let mut comparable = false;
        for accepted in &self.accepted {
            let matched = match (accepted, value, &spellings) {
                (Accepted::Text(pattern), _, Some(spellings)) => pattern.matches_widely(spellings),
                // A tool may read every number as a float, to which large integers and their neighbours are the same.
                (Accepted::Integer(integer), Value::Number(number), _) => is_about(number, *integer as f64),
                (Accepted::Float(float), Value::Number(number), _) => is_about(number, *float),
                (Accepted::Boolean(boolean), Value::Bool(value), _) => boolean == value,
                (Accepted::Range(bounds), Value::Number(number), _) => bounds.contain(number) != Some(false),
                (
                    Accepted::Text(_)
                    | Accepted::Integer(_)
                    | Accepted::Float(_)
                    | Accepted::Boolean(_)
                    | Accepted::Range(_),
                    _,
                    _,
                ) => continue,
            };
            if matched {
                return true;
            }
            comparable = true;
        }
        !comparable
    }
}

/// Returns whether an array is short enough to match: its texts together are no longer than one text may be. The model
/// chooses the array, so the array must not determine the cost of a decision.
fn is_readable(elements: &[Value]) -> bool {
    let bytes = |element: &Value| element.as_str().map_or(1, |text| text.len() + 1);
    elements.len() <= MATCHED_TEXT_BYTES && elements.iter().map(bytes).sum::<usize>() <= MATCHED_TEXT_BYTES
}

/// Returns whether a number equals `wanted` when both are floats. Large integers then equal their neighbors.
fn is_about(number: &Number, wanted: f64) -> bool {
    number.as_f64().is_none_or(|value| value == wanted)
}

impl fmt::Display for When {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, entry) in self.entries.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(formatter, "{separator}{entry}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ArgumentCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = ", self.key)?;
        match self.accepted.as_slice() {
            [only] => write!(formatter, "{only}"),
            several => {
                let several: Vec<String> = several.iter().map(ToString::to_string).collect();
                write!(formatter, "[{}]", several.join(", "))
            }
        }
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(pattern) => pattern.fmt(formatter),
            Self::Range(bounds) => bounds.fmt(formatter),
            Self::Integer(integer) => write!(formatter, "{integer}"),
            Self::Float(float) => write!(formatter, "{float:?}"),
            Self::Boolean(boolean) => write!(formatter, "{boolean}"),
        }
    }
}
