//! What `portcullis watch` knows: the calls under way, the last ones that ended, and the open requests. All texts are
//! untrusted.

use portcullis::approvals::{OpenQuestion, Status};
use portcullis::live::{LiveCall, LiveEvent, LiveHost, LiveState};
use std::collections::{BTreeMap, VecDeque};

/// Calls that have ended and are still shown.
const ENDED_MAX: usize = 20;

/// Maximum calls that are remembered. All hosts of a machine run far fewer at the same time.
const CALLS_MAX: usize = 10_000;

/// The calls and requests of a state directory.
#[derive(Default)]
pub(super) struct WatchModel {
    hosts: BTreeMap<String, LiveHost>,
    calls: BTreeMap<String, LiveCall>,
    ended: VecDeque<LiveCall>,
    inbox: Vec<OpenQuestion>,
    /// The id of the selected request.
    selected: Option<String>,
}

impl WatchModel {
    /// Applies a change of the live feed.
    pub(super) fn apply(&mut self, event: LiveEvent) {
        match event {
            LiveEvent::Host(host) => {
                // A host that connects again sends all of its calls under way.
                self.calls.retain(|_, call| call.host != host);
                self.hosts.insert(host.id.clone(), host);
            }
            LiveEvent::Gone(host) => {
                self.calls.retain(|_, call| call.host != host);
                self.hosts.remove(&host.id);
            }
            LiveEvent::Call(call) if call.state == LiveState::Ended => {
                self.calls.remove(&call.call);
                self.ended.push_back(call);
                if self.ended.len() > ENDED_MAX {
                    self.ended.pop_front();
                }
            }
            LiveEvent::Call(call) if self.calls.len() < CALLS_MAX || self.calls.contains_key(&call.call) => {
                self.calls.insert(call.call.clone(), call);
            }
            // Too many calls, or an event of a later version.
            _ => {}
        }
    }

    /// Replaces the open requests. Returns those that are new, oldest first. The selection stays, or moves to the
    /// request that took its place.
    pub(super) fn receive(&mut self, questions: Vec<OpenQuestion>) -> Vec<OpenQuestion> {
        let place = self.selected_place();
        let open: Vec<OpenQuestion> =
            questions.into_iter().filter(|it| it.status == Status::Pending && it.question.is_some()).collect();
        let is_new = |question: &&OpenQuestion| self.inbox.iter().all(|known| known.id != question.id);
        let new: Vec<OpenQuestion> = open.iter().filter(is_new).cloned().collect();
        self.inbox = open;
        let is_open = self.selected.as_ref().is_some_and(|id| self.inbox.iter().any(|question| question.id == *id));
        if !is_open {
            let last = self.inbox.len().saturating_sub(1);
            self.selected = self.inbox.get(place.unwrap_or(0).min(last)).map(|question| question.id.clone());
        }
        new
    }

    /// Selects the next request, or the one before.
    pub(super) fn select(&mut self, forward: bool) {
        let Some(place) = self.selected_place() else { return };
        let place = if forward { (place + 1).min(self.inbox.len() - 1) } else { place.saturating_sub(1) };
        self.selected = Some(self.inbox[place].id.clone());
    }

    /// Returns the place of the selected request in the inbox.
    pub(super) fn selected_place(&self) -> Option<usize> {
        let id = self.selected.as_ref()?;
        self.inbox.iter().position(|question| question.id == *id)
    }

    /// Returns the selected request.
    pub(super) fn selected(&self) -> Option<&OpenQuestion> {
        self.inbox.get(self.selected_place()?)
    }

    pub(super) fn inbox(&self) -> &[OpenQuestion] {
        &self.inbox
    }

    pub(super) fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Returns the calls under way that wait for no approver, the oldest first, and then those that ended, the newest
    /// first.
    pub(super) fn calls(&self) -> impl Iterator<Item = &LiveCall> {
        let mut running: Vec<&LiveCall> = self.calls.values().filter(|call| call.state != LiveState::Waiting).collect();
        running.sort_by_key(|call| call.started);
        running.into_iter().chain(self.ended.iter().rev())
    }
}
