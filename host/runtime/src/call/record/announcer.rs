//! Announces the states of one call to the subscribers.

use super::entry::CallEntry;
use crate::events::{CallState, Ear, Event, EventKind, Heading, Publisher};
use crate::reply::{Code, Outcome};
use portcullis_sandbox::Progress;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// The announcer of the states of one call.
pub(super) struct CallAnnouncer {
    events: Arc<Publisher>,
    ear: Option<Arc<Ear>>,
    started: SystemTime,
    /// What does not change during the call.
    heading: OnceLock<Heading>,
}

impl CallAnnouncer {
    pub(super) fn new(events: Arc<Publisher>, ear: Option<Arc<Ear>>) -> Self {
        Self { events, ear, started: SystemTime::now(), heading: OnceLock::new() }
    }

    /// Returns when the call was received.
    pub(super) fn started(&self) -> SystemTime {
        self.started
    }

    /// Returns whether a subscriber receives the arguments and the result.
    pub(super) fn wants_payloads(&self) -> bool {
        self.events.wants_payloads()
    }

    pub(super) fn progress(&self, entry: &CallEntry, progress: impl FnOnce() -> Progress) {
        self.events.progress(self.ear.as_deref(), || self.heading(entry, None), progress);
    }

    pub(super) fn publish(&self, entry: &CallEntry, state: CallState) {
        self.events.state(self.ear.as_deref(), || self.heading(entry, None), state);
    }

    /// Publishes the end of the call. A call with an open approval request has no end: it waits.
    pub(super) fn ended(&self, entry: &CallEntry, code: Code) {
        let outcome = code.outcome();
        match outcome {
            // The subscribers already have the state `Waiting`.
            Outcome::Pending if entry.facts().waiting => {}
            Outcome::Pending => self.publish(entry, CallState::Waiting),
            Outcome::Completed
            | Outcome::Failed
            | Outcome::Invalid
            | Outcome::Denied
            | Outcome::Cancelled
            | Outcome::Limit
            | Outcome::Trapped
            | Outcome::Refused => {
                // Note this first, so that a reader of the live feed that begins now is not told of the call.
                entry.note(|facts| facts.ended = true);
                let heading = || self.heading(entry, Some(code));
                self.events.state(self.ear.as_deref(), heading, CallState::Ended(outcome));
            }
        }
    }

    /// Returns the event of the state that the call is in. `None` if it has ended.
    pub(super) fn observe(&self, entry: &CallEntry) -> Option<(Event, CallState)> {
        let state = {
            let facts = entry.facts();
            match (facts.ended, facts.waiting, facts.running) {
                (true, ..) => return None,
                (false, true, _) => CallState::Waiting,
                (false, false, true) => CallState::Running,
                (false, false, false) => CallState::Pending,
            }
        };
        Some((self.heading(entry, None).event(EventKind::State(state)), state))
    }

    fn heading(&self, entry: &CallEntry, code: Option<Code>) -> Heading {
        let facts = entry.facts();
        let heading = self.heading.get_or_init(|| Heading {
            call: entry.id().into(),
            session: facts.session.as_str().into(),
            tool: facts.tool.as_str().into(),
            principal: facts.principal.as_str().into(),
            agent: facts.agent.as_deref().map(Arc::from),
            parent: facts.parent.clone(),
            targets: Arc::default(),
            started: self.started,
            code: None,
            arguments: None,
            result: None,
        });
        let (targets, arguments, result) =
            (Arc::clone(&facts.targets), facts.event_arguments.clone(), facts.event_result.clone());
        Heading { targets, code, arguments, result, ..heading.clone() }
    }
}
