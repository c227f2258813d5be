//! An answer whose outcome could not be recorded is withheld.

use crate::audit::AuditError;
use crate::reply::{Code, Reply};

/// Returns the reply if its outcome is in the log. Otherwise its answer is taken out, and it says why.
pub(super) fn unless_recorded(reply: Reply, recorded: Result<(), AuditError>) -> Reply {
    match recorded {
        Ok(()) => reply,
        Err(_) if reply.code == Code::RecordUnavailable => reply,
        Err(error) => {
            let message = format!(
                "The call ended as {}, but this could not be recorded, so its answer is withheld: {error}.",
                reply.outcome().as_str()
            );
            reply.withheld(Code::RecordUnavailable, message)
        }
    }
}
