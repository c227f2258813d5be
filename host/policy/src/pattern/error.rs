//! Why a stored pattern is none.

use crate::glob::GlobError;

/// Why a stored pattern is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It names more than [`PATTERN_ARGUMENTS`](super::PATTERN_ARGUMENTS) arguments, or one with a name longer than any
    /// that is offered.
    #[error("the pattern names more arguments, or longer ones, than any that is offered")]
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
