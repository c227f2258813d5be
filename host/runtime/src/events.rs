//! What happens to calls, for whoever watches: each call moves through states, and a running one reports progress.
//!
//! Watching changes nothing: who publishes never waits, and keeps for a slow subscriber only so much.

mod publisher;
mod queue;

pub(crate) use publisher::{Ear, Heading, Publisher};

use crate::reply::Outcome;
use portcullis_sandbox::Progress;
use queue::Queue;
use std::sync::{Arc, Weak};
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

/// A subscription. It hears of what happens after it was made; dropping it ends it.
///
/// All states come, in the order in which they happened, or the last event says that they do not. Of progress, a slow
/// subscriber loses the oldest.
pub struct Events {
    queue: Arc<Queue>,
    publisher: Weak<Publisher>,
}

impl Events {
    /// The next event, as soon as there is one. None when no more can come: the host and its calls are gone, or this
    /// subscriber has lagged. No event is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.queue.take() {
                return Some(event);
            }
            if self.queue.is_over() {
                return None;
            }
            self.queue.changed().await;
        }
    }

    /// The next event if it is there already.
    pub fn try_next(&mut self) -> Option<Event> {
        self.queue.take()
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(publisher) = self.publisher.upgrade() {
            publisher.forget(&self.queue);
        }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Events").finish_non_exhaustive()
    }
}
