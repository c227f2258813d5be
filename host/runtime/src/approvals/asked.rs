//! What became of a question.

use super::claim::Ticket;
use super::error::ApprovalError;

/// What became of a question.
pub(crate) enum Asked {
    /// It may run. The ticket, where there is one, says when it has ended.
    Yes(Option<Ticket>),
    /// It may not.
    No {
        /// What the model should know.
        note: Option<String>,
        /// What the operator should know, and the model should not.
        detail: Option<String>,
    },
    /// The question stays behind to be answered.
    Pending {
        /// The id of the question.
        question: String,
        /// What it waits for.
        waits_for: WaitingFor,
    },
    /// Nobody has answered: a new policy has decided, and the request is withdrawn.
    Redecided,
}

/// What runs a call whose question was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitingFor {
    /// Its approver: whoever approves it also runs it.
    Approver,
    /// Its caller, who makes it again after the approval.
    Caller,
}

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) enum AskError<S> {
    /// The answer was no longer needed.
    Stopped(S),
    /// The question or its answer could not be kept.
    Unkept(ApprovalError),
}

impl<S> From<ApprovalError> for AskError<S> {
    fn from(error: ApprovalError) -> Self {
        Self::Unkept(error)
    }
}
