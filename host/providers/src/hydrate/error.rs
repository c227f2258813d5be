//! The error for a provider's answer without usable calls.

use crate::format::Format;

/// The error for a provider's answer without usable calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HydrateError {
    /// It is too large.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// It is not JSON, or not a message in this format.
    #[error("the answer is not a message in the format {format}: {why}")]
    Form {
        /// The format.
        format: Format,
        /// The problem.
        why: String,
    },
    /// It requests more calls than a batch permits.
    #[error("the answer requests too many calls at once: {0}")]
    TooMany(usize),
}
