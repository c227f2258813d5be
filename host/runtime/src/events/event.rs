//! What subscribers hear: the states of a call and the progress of its tool.

use crate::reply::Outcome;
use portcullis_sandbox::Progress;
use std::sync::Arc;
use std::time::SystemTime;

/// Where a call is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallState {
    /// It was asked for, and is looked at.
    Pending,
    /// A person is asked.
    Waiting,
    /// Its tool runs.
    Running,
    /// It is over, and in the record. Nothing of this call follows.
    Ended(Outcome),
}

impl CallState {
    /// The stable name: that of the outcome where the call is over.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Ended(outcome) => outcome.as_str(),
        }
    }
}

/// Something that happened to a call.
#[derive(Clone, Debug)]
pub struct Event {
    /// The id of the call.
    pub call: Arc<str>,
    /// The session it belongs to, as the record has it.
    pub session: Arc<str>,
    /// The tool as it was asked for, as the record has it; untrusted text.
    pub tool: Arc<str>,
    /// When.
    pub at: SystemTime,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// The call is in this state now.
    State(CallState),
    /// The tool reported progress. Its texts are the tool's words.
    Progress(Arc<Progress>),
    /// The subscriber let too many states pile up and hears no more: this event names the call whose state is the
    /// first that it missed.
    Lagged,
}
