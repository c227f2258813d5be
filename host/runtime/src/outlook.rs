//! The predicted result of a call, as `explain` returns it.

use crate::reply::Code;
use serde::{Serialize, Serializer};

/// The predicted result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "would", rename_all = "lowercase")]
pub enum Outlook {
    /// The call would run without asking an approver.
    Run {
        /// The ids of the approvals that it would use: remembered ones, or an approved request that no call waits for.
        /// Empty if it needs no approval.
        approvals: Vec<String>,
    },
    /// The call would need an approver.
    Ask {
        /// Why it needs approval, for the approver.
        reason: String,
        /// The open approval request that it would join.
        request: Option<String>,
    },
    /// The call would not run. The reply would have this code and message.
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
