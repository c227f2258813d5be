//! A call that an approver has decided together with others, before it is made.

use super::approved::ApprovedCall;
use super::disapproval::disapproved;
use super::record::CallRecord;
use super::rejection::Rejection;
use crate::approvals::{ApprovalCase, Concern};
use crate::call_plan::PlanDecision;
use crate::request::Request;
use crate::valid_call::ValidCall;
use std::sync::Arc;

/// Uses what an approver decided about this call before it was made. Returns `None` if nothing was decided.
pub(super) async fn decided_before(
    call: &Arc<ValidCall>,
    request: &Request,
    record: &CallRecord,
    case: &ApprovalCase,
) -> Result<Option<ApprovedCall>, Rejection> {
    let Some(parent) = &request.parent else { return Ok(None) };
    let concerns: Vec<String> = case.concerns.iter().map(Concern::digest).collect();
    match parent.plan.spend(&case.digest(), &concerns) {
        None => Ok(None),
        Some(PlanDecision::Approved { question, .. }) => {
            record.answered(format!("the call, as part of request {question}"), "yes", None).await?;
            Ok(Some(ApprovedCall { limits: call.limits(), call: Arc::clone(call), by_a_person: true }))
        }
        Some(PlanDecision::Declined { note }) => {
            record.answered("the call, as part of an earlier request".to_owned(), "no", note.as_deref()).await?;
            Err(disapproved(call, note.as_deref()))
        }
    }
}
