//! The part of an answer that the host passes on.

use crate::outputs::Reference;
use portcullis_definitions::manifest::{Output, Part};

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

pub(super) fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Image(blob) | Part::File(blob) => {
            blob.name.as_ref().map_or(0, String::len) + blob.media_type.len() + blob.data.len()
        }
    }
}
