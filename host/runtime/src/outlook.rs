//! What would become of a call now, as `explain` says it.

use crate::reply::Code;
use serde::{Serialize, Serializer};

/// What would become of a call now, for whoever would make it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "would", rename_all = "lowercase")]
pub enum Outlook {
    /// It would run without an approver being asked.
    Run {
        /// The approvals that answer for it, by their ids: remembered ones, or the request that was approved while no
        /// call waited. Empty where none is needed.
        approvals: Vec<String>,
    },
    /// It would need an approver.
    Ask {
        /// Why, in words for the approver.
        reason: String,
        /// The open approval request that it would join.
        request: Option<String>,
    },
    /// It would not run. The reply would have this code and this message.
    Refuse {
        /// The code.
        #[serde(serialize_with = "word")]
        code: Code,
        /// The message.
        message: String,
    },
}

fn word<S: Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}
