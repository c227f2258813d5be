//! The calls under way of every host of the state directory, from their live feed.

use crate::html::now;
use portcullis::live::{LiveCall, LiveEvent, LiveState};
use portcullis::policy::recovery::RecoverMutex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;

/// Maximum calls that are kept. Hosts run fewer at one time; more would only be calls that wait.
const CALLS_MAX: usize = 1000;

/// States of a call that are kept, the last ones. A call that asks in a loop changes its state often.
const STATES_KEPT: usize = 32;

/// A call under way, with the states that this console saw.
#[derive(Clone, Debug)]
pub(crate) struct LiveRow {
    pub(crate) call: LiveCall,
    /// The states, the oldest first.
    pub(crate) states: VecDeque<SeenState>,
}

/// A state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenState {
    pub(crate) state: LiveState,
    /// When it began, in milliseconds since 1970.
    pub(crate) at: i64,
    /// Whether it began at an unknown time before `at`, because the console did not follow the call yet.
    pub(crate) is_earlier: bool,
}

/// The calls under way, and the hosts that share theirs.
#[derive(Default)]
pub(crate) struct LiveCalls(Mutex<LiveTable>);

#[derive(Default)]
struct LiveTable {
    hosts: BTreeSet<String>,
    calls: BTreeMap<String, LiveRow>,
}

impl LiveCalls {
    /// Applies a change.
    pub(crate) fn apply(&self, event: LiveEvent) {
        let mut table = self.0.lock_recovered();
        match event {
            LiveEvent::Host(host) => {
                // The calls under way follow. One that ended while the host was not followed would stay.
                table.calls.retain(|_, row| row.call.host.id != host.id);
                table.hosts.insert(host.id);
            }
            LiveEvent::Gone(host) => {
                table.calls.retain(|_, row| row.call.host.id != host.id);
                table.hosts.remove(&host.id);
            }
            LiveEvent::Call(call) if call.state == LiveState::Ended => drop(table.calls.remove(&call.call)),
            LiveEvent::Call(call) => {
                if let Some(row) = table.calls.get_mut(&call.call) {
                    row.change(call, now());
                } else if table.calls.len() < CALLS_MAX {
                    table.calls.insert(call.call.clone(), LiveRow::new(call, now()));
                }
            }
            // A later version of the library tells more.
            _ => {}
        }
    }

    /// Returns the calls under way, the newest first.
    pub(crate) fn calls(&self) -> Vec<LiveRow> {
        let mut rows: Vec<LiveRow> = self.0.lock_recovered().calls.values().cloned().collect();
        rows.sort_by(|LiveRow { call: one, .. }, LiveRow { call: other, .. }| {
            (other.started, &other.call).cmp(&(one.started, &one.call))
        });
        rows
    }

    /// Returns the number of calls under way.
    pub(crate) fn count(&self) -> usize {
        self.0.lock_recovered().calls.len()
    }

    /// Returns the number of hosts that share their calls.
    pub(crate) fn hosts(&self) -> usize {
        self.0.lock_recovered().hosts.len()
    }
}

impl LiveRow {
    fn new(call: LiveCall, now: i64) -> Self {
        // Every call was pending first, also one that the console has met later.
        let first = SeenState { state: LiveState::Pending, at: call.started.as_millisecond(), is_earlier: false };
        let mut states = VecDeque::from([first]);
        if call.state != LiveState::Pending {
            states.push_back(SeenState { state: call.state, at: now, is_earlier: true });
        }
        Self { call, states }
    }

    /// Takes a newer description of the call.
    fn change(&mut self, call: LiveCall, now: i64) {
        if call.state != self.call.state {
            if self.states.len() == STATES_KEPT {
                self.states.pop_front();
            }
            self.states.push_back(SeenState { state: call.state, at: now, is_earlier: false });
        }
        self.call = call;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(state: &str) -> LiveCall {
        let document = json!({
            "host": { "id": "h", "pid": 1 }, "call": "c", "session": "s", "principal": "p", "tool": "good.run",
            "state": state, "started": 1000,
        });
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn a_state_has_the_time_at_which_it_was_seen() {
        let seen = |state, at, is_earlier| SeenState { state, at, is_earlier };
        let mut row = LiveRow::new(call("pending"), 1500);
        row.change(call("waiting"), 2000);
        row.change(call("waiting"), 2500);
        row.change(call("running"), 3000);
        assert_eq!(
            row.states,
            [
                seen(LiveState::Pending, 1000, false),
                seen(LiveState::Waiting, 2000, false),
                seen(LiveState::Running, 3000, false)
            ]
        );
        let late = LiveRow::new(call("running"), 5000);
        assert_eq!(late.states, [seen(LiveState::Pending, 1000, false), seen(LiveState::Running, 5000, true)]);
    }

    #[test]
    fn the_states_of_a_call_are_bounded() {
        let mut row = LiveRow::new(call("pending"), 0);
        for at in 0..200 {
            row.change(call(if at % 2 == 0 { "waiting" } else { "running" }), at);
        }
        assert_eq!(row.states.len(), STATES_KEPT);
        assert_eq!(row.states.back().map(|seen| seen.at), Some(199));
    }
}
