//! The events that subscribers receive: the states of a call and the progress of its tool.

use super::payload::EventPayload;
use crate::reply::{Code, Outcome};
use portcullis_policy::Targets;
use portcullis_sandbox::Progress;
use std::sync::Arc;
use std::time::SystemTime;

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallState {
    /// The call was received, and is checked.
    Pending,
    /// The call waits for an approver.
    Waiting,
    /// The tool runs.
    Running,
    /// The call has ended and is recorded. No more events of this call follow.
    Ended(Outcome),
}

impl CallState {
    /// Returns the stable name. For an ended call, it is that of the outcome.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Ended(outcome) => outcome.as_str(),
        }
    }
}

/// An event about a call.
#[derive(Clone, Debug)]
pub struct Event {
    /// The id of the call.
    pub call: Arc<str>,
    /// The session of the call, as in the audit log: its name, or `sha256:` and the digest of a name of more than 128
    /// bytes.
    pub session: Arc<str>,
    /// The tool's name as the caller wrote it, as in the audit log. Untrusted text.
    pub tool: Arc<str>,
    /// The principal of the call.
    pub principal: Arc<str>,
    /// The agent, if the caller named one. Untrusted text.
    pub agent: Option<Arc<str>>,
    /// The id of the call whose tool made this call. `None` if a caller made it.
    pub parent: Option<Arc<str>>,
    /// The places that the arguments name, as in the audit log. Empty until the call is validated. Untrusted text.
    pub targets: Arc<Targets>,
    /// When the call was received.
    pub started: SystemTime,
    /// The code of a call that has ended.
    pub code: Option<Code>,
    /// The arguments in canonical form, once they are validated. `None` unless the subscriber asked for payloads
    /// before that ([`super::EventFilter::with_payloads`]). Events of progress never have them.
    pub arguments: Option<Arc<EventPayload>>,
    /// The message of the reply, in the event of the call's end. `None` unless the subscriber asked for payloads, and
    /// for a call whose arguments were refused.
    pub result: Option<Arc<EventPayload>>,
    /// When it happened.
    pub at: SystemTime,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// The call has entered this state.
    State(CallState),
    /// The tool reported progress. Its texts are untrusted.
    Progress(Arc<Progress>),
    /// Too many states were queued for the subscriber, so the subscription has ended. This event names the call of the
    /// first state that was lost.
    Lagged,
}
