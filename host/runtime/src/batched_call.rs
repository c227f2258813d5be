//! What the caller of `tools.batch` knows of the calls in it.

use crate::reply::Code;
use std::sync::Arc;

/// What a caller knows of one call in a call of `tools.batch`.
///
/// An embedder that gives models other names, or only some of the tools, makes one for each call. The arguments of the
/// batch then have the full names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchedCall {
    /// The tool's name as the caller wrote it, for the results.
    pub(crate) name: String,
    /// The hash of the definition that the arguments were made for.
    pub(crate) definition: Option<[u8; 32]>,
    /// The reason why the caller itself does not want it to run.
    pub(crate) refused: Option<(Code, Arc<str>)>,
}

impl BatchedCall {
    /// Describes a call of the tool that the caller knows by this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), definition: None, refused: None }
    }

    /// Sets the SHA-256 of the definition that the arguments were made for
    /// ([`Request::of_definition`](crate::Request::of_definition)).
    #[must_use]
    pub fn of_definition(mut self, sha256: [u8; 32]) -> Self {
        self.definition = Some(sha256);
        self
    }

    /// Marks the call as one that must not run ([`Request::refused`](crate::Request::refused)).
    #[must_use]
    pub fn refused(mut self, code: Code, why: &str) -> Self {
        self.refused = Some((code.of_refusal(), Arc::from(why)));
        self
    }
}
