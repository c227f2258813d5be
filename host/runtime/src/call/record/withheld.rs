//! Withholds answers whose outcome could not be recorded.

use crate::audit::AuditError;
use crate::reply::{Code, Reply};

/// Returns the reply if its outcome is in the audit log. Otherwise removes its answer and says why.
pub(super) fn unless_recorded(reply: Reply, recorded: Result<(), AuditError>) -> Reply {
    match recorded {
        Ok(()) => reply,
        Err(_) if reply.code == Code::RecordUnavailable => reply,
        Err(error) => {
            let message = format!(
                "The call ended as {}, but its answer is withheld because the audit log could not be written: {error}.",
                reply.outcome().as_str()
            );
            reply.withheld(Code::RecordUnavailable, message)
        }
    }
}
