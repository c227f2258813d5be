//! The error for a stored pattern that is invalid.

use crate::glob::GlobError;

/// The error for a stored pattern that is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It names more than [`PATTERN_ARGUMENTS`](super::PATTERN_ARGUMENTS) arguments, or one with a name longer than any
    /// that is offered.
    #[error("the pattern names too many arguments, or an argument whose name is too long")]
    Arguments,
    /// It names a list, an object or a long text exactly.
    #[error("the pattern names a list, an object or a long text exactly")]
    Exact,
    /// One of its patterns is malformed.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// One of its patterns is wider than one directory.
    #[error("the pattern is wider than any pattern that the host offers")]
    TooWide,
    /// It names a URL or an origin that is not in its plain form.
    #[error("the pattern names a URL that is not in its plain form")]
    Url,
}
