//! The values that a pattern permits for one argument of later calls.

use serde_json::Value;

use super::limits::{EXACT_BYTES, RESOURCE_PATH_BYTES};
use super::url_scope::UrlScope;
use crate::glob::Glob;
use crate::lexical::is_plain;

/// The permitted values of one argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Constraint {
    /// Exactly this null, boolean, number or text.
    Exact(Value),
    /// A plain path below the directory that this pattern names. The directory itself is not covered.
    Glob(Glob),
    /// A URL of this path, or of this scheme, host and port.
    Url(UrlScope),
    /// Anything.
    Any,
}

impl Constraint {
    pub(super) fn covers(&self, value: &Value) -> bool {
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
pub(super) fn is_path(text: &str) -> bool {
    // `C:` is a drive on Windows, and `https:` begins a URL. Neither is a relative path.
    let drive = text.split('/').next().is_some_and(|first| first.contains(':'));
    text.len() <= RESOURCE_PATH_BYTES && is_plain(text) && !drive && text.split('/').all(|segment| !segment.is_empty())
}

/// Returns the parent directory of a path, if it has one.
pub(super) fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

/// Returns whether a pattern may name a value exactly.
pub(super) fn is_nameable(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.len() <= EXACT_BYTES,
        Value::Array(_) | Value::Object(_) => false,
    }
}
