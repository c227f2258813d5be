//! The part of an answer that the host passes on.

use crate::outputs::Reference;
use portcullis_definitions::manifest::Output;

/// The part of an answer that is passed on.
pub(super) struct Passed {
    pub(super) output: Output,
    pub(super) message: String,
    pub(super) reference: Option<Reference>,
}

impl Passed {
    pub(super) fn text(text: String, reference: Option<Reference>) -> Self {
        Self { output: Output::Text(text.clone()), message: text, reference }
    }
}
