//! The state of a call, and when it entered that state.

use portcullis::{Question, Reply};
use rmcp::task_manager::current_timestamp;
use std::sync::Arc;

/// The state of a call.
#[derive(Clone, Debug)]
pub(crate) enum CallPhase {
    /// The call is running.
    Work,
    /// The call waits for an approver.
    Asking(Arc<Question>),
    /// The call is over.
    Over(Arc<Reply>),
}

/// The state of a call, and when it was entered.
#[derive(Clone, Debug)]
pub(crate) struct CallStage {
    pub(crate) at: CallPhase,
    /// The time in RFC 3339 format.
    pub(crate) since: String,
}

impl CallStage {
    /// Returns a stage that begins now.
    pub(super) fn now(at: CallPhase) -> Self {
        Self { at, since: current_timestamp() }
    }
}
