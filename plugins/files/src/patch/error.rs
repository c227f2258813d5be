//! A patch that cannot be read.

use portcullis_sdk::prelude::*;

/// What is wrong with a line of a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatchError {
    line: usize,
    text: String,
}

impl PatchError {
    /// Creates the error of a line, counted from 1.
    pub(super) fn at(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }

    /// Returns the failure for the model.
    pub(super) fn failure(&self) -> Failure {
        Failure::invalid(format!("nothing was changed: line {} of the patch: {}", self.line, self.text))
    }
}
