//! The result of an approval request.

use super::claim::Ticket;
use super::error::ApprovalError;
use crate::call_selection::CallSelection;

/// The result of an approval request.
pub(crate) enum AskOutcome {
    /// The call may run. Dropping the ticket, if there is one, reports that the call has ended.
    Yes(Option<Ticket>),
    /// Some of the calls that a running call asked about may run. The others may not.
    Part {
        /// The calls that may run.
        calls: CallSelection,
        /// A note for the model.
        note: Option<String>,
    },
    /// The call may not run.
    No {
        /// A note for the model.
        note: Option<String>,
        /// What the operator should know, and the model should not.
        detail: Option<String>,
    },
    /// The request stays open without its call.
    Pending {
        /// The id of the request.
        question: String,
        /// What it waits for.
        waits_for: WaitingFor,
    },
    /// A new policy decided the call before an answer, so the request is withdrawn.
    Redecided,
}

/// Who runs a call whose request was left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitingFor {
    /// The approver, who also runs the call.
    Approver,
    /// The caller, who makes the call again after the approval.
    Caller,
}

/// The reason why an approval request has no answer.
#[derive(Debug)]
pub(crate) enum AskError<S> {
    /// The answer was no longer needed.
    Stopped(S),
    /// The request or its answer could not be stored.
    Unkept(ApprovalError),
}

impl<S> From<ApprovalError> for AskError<S> {
    fn from(error: ApprovalError) -> Self {
        Self::Unkept(error)
    }
}
