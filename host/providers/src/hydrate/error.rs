//! Why a provider's answer has no calls.

use crate::format::Format;

/// Why a provider's answer has no calls that could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HydrateError {
    /// It is larger than any answer of a model.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// It is no JSON, or not a message of this format.
    #[error("the answer is no message of the format {format}: {why}")]
    Form {
        /// The format.
        format: Format,
        /// What is wrong, in words.
        why: String,
    },
    /// It asks for more calls than a batch takes.
    #[error("the answer asks for {0} calls at once")]
    TooMany(usize),
}
