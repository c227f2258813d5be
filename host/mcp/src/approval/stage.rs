//! The state of a call, and when it entered that state.

use portcullis::shared_calls::{SharedCall, SharedCallState};
use portcullis::{Question, Reply, Timestamp};
use std::sync::Arc;
use std::time::SystemTime;

/// The state of a call.
#[derive(Clone, Debug)]
pub(crate) enum CallPhase {
    /// The call is running.
    Work,
    /// The call waits for an approver.
    Asking(Arc<Question>),
    /// The call is over.
    Over(Arc<Reply>),
    /// The process that ran the call has ended before the call was over.
    Lost,
}

/// The state of a call, and when it was entered.
#[derive(Clone, Debug)]
pub(crate) struct CallStage {
    pub(crate) at: CallPhase,
    /// The time.
    pub(crate) since: Timestamp,
}

impl CallPhase {
    /// Returns the approval request that the call waits for.
    pub(super) fn question(&self) -> Option<&Arc<Question>> {
        match self {
            Self::Asking(question) => Some(question),
            Self::Work | Self::Over(_) | Self::Lost => None,
        }
    }

    /// Returns whether two phases are the same to a client: both are about the same approval request, or about none.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let id = |phase: &Self| phase.question().map(|question| question.id.clone());
        std::mem::discriminant(self) == std::mem::discriminant(other) && id(self) == id(other)
    }

    /// Returns whether the call has ended.
    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Work | Self::Asking(_) => false,
            Self::Over(_) | Self::Lost => true,
        }
    }

    /// Returns the state for other hosts.
    pub(super) fn shared(&self) -> SharedCallState {
        match self {
            Self::Work => SharedCallState::Works,
            Self::Asking(question) => SharedCallState::Asks(Arc::clone(question)),
            Self::Over(reply) => SharedCallState::Over(Arc::clone(reply)),
            Self::Lost => SharedCallState::Lost,
        }
    }
}

impl CallStage {
    /// Returns a stage that begins now.
    pub(super) fn now(at: CallPhase) -> Self {
        Self { at, since: SystemTime::now().into() }
    }

    /// Returns the stage of a shared call.
    pub(crate) fn of(call: &SharedCall) -> Self {
        let at = match &call.state {
            SharedCallState::Works => CallPhase::Work,
            SharedCallState::Asks(question) => CallPhase::Asking(Arc::clone(question)),
            SharedCallState::Over(reply) => CallPhase::Over(Arc::clone(reply)),
            SharedCallState::Lost => CallPhase::Lost,
        };
        Self { at, since: call.changed_at }
    }
}
