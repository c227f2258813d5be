//! Withholds answers whose outcome could not be recorded.

use crate::audit::AuditError;
use crate::reply::{Code, Reply};
use crate::text::WithCauses;

/// Returns the reply if its outcome is in the audit log. Otherwise removes its answer and says why.
pub(super) fn unless_recorded(reply: Reply, recorded: Result<(), AuditError>) -> Reply {
    match recorded {
        Ok(()) => reply,
        Err(_) if reply.code == Code::RecordUnavailable => reply,
        Err(error) => {
            let message = format!(
                "The call ended as {}, but its answer is withheld because the audit log could not be written: {}.",
                reply.outcome().as_str(),
                WithCauses(&error)
            );
            reply.withheld(Code::RecordUnavailable, message)
        }
    }
}
