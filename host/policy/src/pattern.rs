//! The calls that a remembered approval covers.
//!
//! The approver chooses a pattern from a few that the host offers, or that a plugin or a hook proposes. Approvers do
//! not write patterns. A pattern names every argument of the approved call, and a call with more or fewer arguments is
//! not covered. This module must not know what else an approval is bound to: the host compares the plugin, the
//! definition, the handles and the caller.

mod argument_names;
mod constraint;
mod error;
mod form;
mod limits;
mod offer;
mod propose;
mod url_scope;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use argument_names::{RESOURCES, URLS};
use constraint::Constraint;
pub use error::PatternError;
use form::PatternForm;
pub use limits::{EXACT_BYTES, OFFERS_MAX, PATTERN_ARGUMENTS, RESOURCE_PATH_BYTES};
pub use propose::{PROPOSALS_MAX, Variation};

/// The calls that a remembered approval covers: one constraint for each argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PatternForm", into = "PatternForm")]
pub struct Pattern {
    arguments: BTreeMap<String, Constraint>,
}

impl Pattern {
    /// Returns whether the approval covers a call with these arguments.
    pub fn covers(&self, arguments: &Map<String, Value>) -> bool {
        arguments.len() == self.arguments.len()
            && self
                .arguments
                .iter()
                .all(|(name, constraint)| arguments.get(name).is_some_and(|value| constraint.covers(value)))
    }
}

impl From<Pattern> for PatternForm {
    fn from(pattern: Pattern) -> Self {
        Self::of(pattern.arguments)
    }
}

impl TryFrom<PatternForm> for Pattern {
    type Error = PatternError;

    fn try_from(form: PatternForm) -> Result<Self, PatternError> {
        Ok(Self { arguments: form.constraints()? })
    }
}

impl fmt::Display for Pattern {
    /// Writes one line. Every text is escaped.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, constraint)) in self.arguments.iter().enumerate() {
            formatter.write_str(if position == 0 { "" } else { ", " })?;
            let name = ShownName(name);
            match constraint {
                Constraint::Any => write!(formatter, "any {name}")?,
                Constraint::Glob(glob) => write!(formatter, "{name} = \"{}\"", glob.as_str().escape_debug())?,
                Constraint::Url(scope) => write!(formatter, "{name} = {scope}")?,
                Constraint::Exact(Value::String(text)) => write!(formatter, "{name} = \"{}\"", text.escape_debug())?,
                Constraint::Exact(scalar) => write!(formatter, "{name} = {scalar}")?,
            }
        }
        Ok(())
    }
}

/// The name of an argument as rules show it.
struct ShownName<'a>(&'a str);

impl fmt::Display for ShownName<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare =
            !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if bare { formatter.write_str(self.0) } else { write!(formatter, "\"{}\"", self.0.escape_debug()) }
    }
}
