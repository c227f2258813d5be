//! The result of an edit before it is checked.

use crate::meaning::PolicyMeaning;

/// A new text, and what it must mean.
pub(crate) struct WrittenEdit {
    pub(crate) text: String,
    pub(crate) expected: PolicyMeaning,
    /// The lines to add by hand if the text does not have this meaning.
    pub(crate) lines: String,
}
