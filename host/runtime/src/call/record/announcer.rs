//! Announces the states of one call to the subscribers.

use super::entry::CallEntry;
use crate::events::{CallState, Ear, Heading, Publisher};
use crate::reply::Outcome;
use portcullis_sandbox::Progress;
use std::sync::{Arc, OnceLock};

/// The announcer of the states of one call.
pub(super) struct CallAnnouncer {
    events: Arc<Publisher>,
    ear: Option<Arc<Ear>>,
    heading: OnceLock<Heading>,
}

impl CallAnnouncer {
    pub(super) fn new(events: Arc<Publisher>, ear: Option<Arc<Ear>>) -> Self {
        Self { events, ear, heading: OnceLock::new() }
    }

    pub(super) fn progress(&self, entry: &CallEntry, progress: Progress) {
        self.events.progress(self.ear.as_deref(), || self.heading(entry), progress);
    }

    pub(super) fn publish(&self, entry: &CallEntry, state: CallState) {
        self.events.state(self.ear.as_deref(), || self.heading(entry), state);
    }

    /// Publishes the end of the call. A call with an open approval request has no end: it waits.
    pub(super) fn ended(&self, entry: &CallEntry, outcome: Outcome) {
        match outcome {
            Outcome::Pending if entry.facts().waiting => {}
            Outcome::Pending => self.publish(entry, CallState::Waiting),
            Outcome::Completed
            | Outcome::Failed
            | Outcome::Invalid
            | Outcome::Denied
            | Outcome::Cancelled
            | Outcome::Limit
            | Outcome::Trapped
            | Outcome::Refused => self.publish(entry, CallState::Ended(outcome)),
        }
    }

    fn heading(&self, entry: &CallEntry) -> &Heading {
        self.heading.get_or_init(|| {
            let facts = entry.facts();
            let (session, tool) = (facts.session.as_str().into(), facts.tool.as_str().into());
            Heading { call: entry.id().into(), session, tool }
        })
    }
}
