//! Reports why an approval has no effect, with the exit code.

use super::super::Context;
use super::super::no_result::fail_with_help;
use crate::exit_code::Exit;
use crate::failure::code_of_approval;
use portcullis::Approvals;
use portcullis::approvals::{ApprovalError, Status};
use portcullis::text::WithCauses;

/// The error if the id of an approval is given in place of the id of a request.
pub(super) const AN_ANSWER: &str = "this is the id of an approval, not of a request: `portcullis approvals revoke` \
                                    revokes it";

/// Reports an approval that has no effect. If the request was withdrawn, adds why.
pub(super) async fn tell_of(
    error: &ApprovalError,
    id: &str,
    approvals: &Approvals,
    context: &Context,
) -> anyhow::Result<Exit> {
    let ApprovalError::Settled(Status::Withdrawn) = error else { return tell(error, context) };
    match approvals.question(id).await?.note {
        Some(note) => {
            let why = format!("{}: {note}", WithCauses(error));
            fail_with_help(code_of_approval(error), &why, None, exit(error), context)
        }
        None => tell(error, context),
    }
}

/// Reports an approval that has no effect.
pub(super) fn tell(error: &ApprovalError, context: &Context) -> anyhow::Result<Exit> {
    let remedy = match error {
        ApprovalError::Settled(Status::Approved) => Some("to revoke it, run `portcullis approvals revoke`"),
        ApprovalError::Settled(_)
        | ApprovalError::Unknown
        | ApprovalError::Expired
        | ApprovalError::Gone
        | ApprovalError::Changed(_)
        | ApprovalError::WaitedFor
        | ApprovalError::NotOffered
        | ApprovalError::Ledger(_)
        | ApprovalError::Audit(_)
        | ApprovalError::Unrecorded(_) => None,
    };
    fail_with_help(code_of_approval(error), &WithCauses(error).to_string(), remedy, exit(error), context)
}

/// Returns the exit code: usage for a wrong command line, denied for an approval that comes too late.
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
