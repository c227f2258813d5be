//! Errors of reading a body.

use crate::Failure;

/// Why no more of a body can be read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The host ended the body at a limit of the policy. The bytes read before are valid.
    Limit(Failure),
    /// The connection broke or timed out.
    Broken(Failure),
}
