//! Events about calls, for subscribers. Each call goes through states, and a running call reports progress.
//!
//! Subscribers never slow down calls. The publisher never waits, and limits what it queues for a slow subscriber.

mod publisher;
mod queue;

pub(crate) use publisher::{Ear, Heading, Publisher};

use crate::reply::Outcome;
use portcullis_sandbox::Progress;
use queue::Queue;
use std::sync::{Arc, Weak};
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
    /// The session of the call, as in the audit log.
    pub session: Arc<str>,
    /// The tool's name as the caller wrote it, as in the audit log. Untrusted text.
    pub tool: Arc<str>,
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

/// A subscription to events from its creation on. Dropping it ends it.
///
/// It delivers all states in the order in which they happened, unless its last event is [`EventKind::Lagged`]. A slow
/// subscriber loses the oldest progress.
pub struct Events {
    queue: Arc<Queue>,
    publisher: Weak<Publisher>,
}

impl Events {
    /// Waits for the next event. Returns `None` if no more events can come, because the host and its calls have ended
    /// or this subscriber has lagged. Dropping the future loses no event.
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

    /// Returns the next event if one is queued.
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
