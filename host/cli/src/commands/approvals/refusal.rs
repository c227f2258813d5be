//! Why an approval has no effect, and how the program then ends.

use super::super::{Context, fail};
use crate::exit_code::Exit;
use portcullis::Approvals;
use portcullis::approvals::{ApprovalError, Status};

/// An answer was named where a question is meant.
pub(super) const AN_ANSWER: &str = "this is the id of an answer, not of a question: `portcullis approvals revoke` \
                                    takes it back";

/// Reports an approval that has no effect. If the request was withdrawn, adds why.
pub(super) fn tell_of(
    error: &ApprovalError,
    id: &str,
    approvals: &Approvals,
    context: &Context,
) -> anyhow::Result<Exit> {
    let ApprovalError::Settled(Status::Withdrawn) = error else { return tell(error, context) };
    match approvals.question(id)?.note {
        Some(note) => fail(&format!("{error}: {note}"), exit(error), context),
        None => tell(error, context),
    }
}

/// Tells of an approval that has no effect.
pub(super) fn tell(error: &ApprovalError, context: &Context) -> anyhow::Result<Exit> {
    let remedy = match error {
        ApprovalError::Settled(Status::Approved) => "; `portcullis approvals revoke` takes the yes back",
        ApprovalError::Settled(_)
        | ApprovalError::Unknown
        | ApprovalError::Expired
        | ApprovalError::Gone
        | ApprovalError::Changed(_)
        | ApprovalError::WaitedFor
        | ApprovalError::NotOffered
        | ApprovalError::Ledger(_)
        | ApprovalError::Audit(_)
        | ApprovalError::Unrecorded(_) => "",
    };
    fail(&format!("{error}{remedy}"), exit(error), context)
}

/// What is typed wrongly is usage, and what comes too late is a denial.
fn exit(error: &ApprovalError) -> Exit {
    match error {
        ApprovalError::Unknown
        | ApprovalError::NotOffered
        | ApprovalError::Ledger(_)
        | ApprovalError::Audit(_)
        | ApprovalError::Unrecorded(_) => Exit::Usage,
        ApprovalError::Settled(_)
        | ApprovalError::Expired
        | ApprovalError::Gone
        | ApprovalError::Changed(_)
        | ApprovalError::WaitedFor => Exit::Denied,
    }
}
