//! A call that may run, exactly as it was decided: the result of step 3.

use crate::valid_call::ValidCall;
use portcullis_policy::Limits;
use std::sync::Arc;

/// A call that may run, exactly as it was decided.
pub(crate) struct ApprovedCall {
    pub(super) call: Arc<ValidCall>,
    pub(super) limits: Limits,
    /// Whether an approver approved the call, now or with a remembered approval.
    pub(super) by_a_person: bool,
}
