//! Why a stored pattern is none.

use crate::glob::GlobError;

/// Why a stored pattern is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It names more than [`PATTERN_ARGUMENTS`](super::PATTERN_ARGUMENTS) arguments, or one with a name longer than any
    /// that is offered.
    #[error("the pattern names more arguments, or longer ones, than any that is offered")]
    Arguments,
    /// It names a list, an object or a long text exactly.
    #[error("the pattern names a value that none names exactly")]
    Exact,
    /// One of its patterns is malformed.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// One of its patterns is not for what is in one directory.
    #[error("the pattern is wider than any that is offered")]
    TooWide,
    /// It names a path or an origin of the network, but not in the one plain spelling.
    #[error("the pattern names a URL in another spelling than those that are offered")]
    Url,
}
