//! What step 3 makes.

use super::valid_call::ValidCall;
use portcullis_policy::Limits;
use std::sync::Arc;

/// A call that may run, exactly as it was decided on.
pub(crate) struct ApprovedCall {
    pub(super) call: Arc<ValidCall>,
    pub(super) limits: Limits,
    /// A person said yes to it: now, or by an answer that holds on.
    pub(super) by_a_person: bool,
}
