//! The calls that a remembered approval covers.
//!
//! The approver chooses a pattern from a few that the host offers, or that a plugin or a hook proposes. Approvers do
//! not write patterns. A pattern names every argument of the approved call, and a call with more or fewer arguments is
//! not covered. This module must not know what else an approval is bound to: the host compares the plugin, the
//! definition, the handles and the caller.

mod form;
mod offer;
mod propose;
mod url_scope;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::glob::Glob;
use crate::lexical::is_plain;
use form::Form;
pub use form::PatternError;
pub(crate) use offer::RESOURCES;
pub use propose::{PROPOSALS_MAX, Variation};
use url_scope::UrlScope;

/// Maximum patterns that are offered for one call. An approver would not compare more.
pub const OFFERS_MAX: usize = 4;
/// Maximum arguments of a call for which patterns are offered. The approver reads one line with all of them.
pub const PATTERN_ARGUMENTS: usize = 16;
/// Maximum bytes of a text that a pattern names exactly. The approver has to read it.
pub const EXACT_BYTES: usize = 256;
/// Maximum bytes of a path that patterns are offered for and cover. The approver has to read it. For a URL, it includes
/// scheme, host and port.
pub const RESOURCE_PATH_BYTES: usize = 512;

/// The calls that a remembered approval covers: one constraint for each argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct Pattern {
    arguments: BTreeMap<String, Constraint>,
}

/// The permitted values of one argument.
#[derive(Debug, Clone, PartialEq)]
enum Constraint {
    /// Exactly this null, boolean, number or text.
    Exact(Value),
    /// A plain path below the directory that this pattern names. The directory itself is not covered.
    Glob(Glob),
    /// A URL of this path, or of this scheme, host and port.
    Url(UrlScope),
    /// Anything.
    Any,
}

impl Pattern {
    /// Returns the patterns to offer for a call with these arguments, from narrow to wide, without the exact call.
    /// There are none if no argument names a path or a URL, or if another argument is a list, an object or a long text.
    pub fn offers(arguments: &Map<String, Value>, schema: &Value) -> Vec<Self> {
        offer::offers(arguments, schema)
    }

    /// Returns the pattern that lets only some arguments differ from those of a call, as a plugin or a hook proposes
    /// it. Returns none if the proposal names an argument twice or one that the call does not have, if it lets an
    /// argument be anything that names a path, a URL or a resource, if it names something wider than one directory, if
    /// the pattern would not cover the call itself, or if it would name a list, an object or a long text exactly.
    pub fn varying(arguments: &Map<String, Value>, variations: &[Variation]) -> Option<Self> {
        propose::varying(arguments, variations)
    }

    /// Returns whether the approval covers a call with these arguments.
    pub fn covers(&self, arguments: &Map<String, Value>) -> bool {
        arguments.len() == self.arguments.len()
            && self
                .arguments
                .iter()
                .all(|(name, constraint)| arguments.get(name).is_some_and(|value| constraint.covers(value)))
    }
}

impl Constraint {
    fn covers(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any, _) => true,
            (Self::Exact(exact), value) => exact == value,
            (Self::Glob(glob), Value::String(text)) => is_path(text) && parent(text).is_some_and(|it| glob.matches(it)),
            (Self::Url(scope), Value::String(text)) => scope.covers(text),
            (Self::Glob(_) | Self::Url(_), _) => false,
        }
    }
}

/// Returns whether a text is a relative path in its plain form.
fn is_path(text: &str) -> bool {
    let drive = text.split('/').next().is_some_and(|first| first.contains(':'));
    text.len() <= RESOURCE_PATH_BYTES && is_plain(text) && !drive && text.split('/').all(|segment| !segment.is_empty())
}

/// Returns the parent directory of a path, if it has one.
fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

/// Returns whether a pattern may name a value exactly.
fn is_nameable(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.len() <= EXACT_BYTES,
        Value::Array(_) | Value::Object(_) => false,
    }
}

impl fmt::Display for Pattern {
    /// Writes one line. Every text is escaped.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, constraint)) in self.arguments.iter().enumerate() {
            formatter.write_str(if position == 0 { "" } else { ", " })?;
            let name = Shown(name);
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
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare =
            !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if bare { formatter.write_str(self.0) } else { write!(formatter, "\"{}\"", self.0.escape_debug()) }
    }
}
