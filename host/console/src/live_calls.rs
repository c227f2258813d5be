//! The calls under way of every host of the state directory, from their live feed.

use portcullis::live::{LiveCall, LiveEvent, LiveState};
use portcullis::policy::recovery::RecoverMutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Maximum calls that are kept. Hosts run fewer at one time; more would only be calls that wait.
const CALLS_MAX: usize = 1000;

/// The calls under way, and the hosts that share theirs.
#[derive(Default)]
pub(crate) struct LiveCalls(Mutex<LiveTable>);

#[derive(Default)]
struct LiveTable {
    hosts: BTreeSet<String>,
    calls: BTreeMap<String, LiveCall>,
}

impl LiveCalls {
    /// Applies a change.
    pub(crate) fn apply(&self, event: LiveEvent) {
        let mut table = self.0.lock_recovered();
        match event {
            LiveEvent::Host(host) => {
                table.calls.retain(|_, call| call.host.id != host.id);
                table.hosts.insert(host.id);
            }
            LiveEvent::Gone(host) => {
                table.calls.retain(|_, call| call.host.id != host.id);
                table.hosts.remove(&host.id);
            }
            LiveEvent::Call(call) if call.state == LiveState::Ended => drop(table.calls.remove(&call.call)),
            LiveEvent::Call(call) => {
                let room = table.calls.len() < CALLS_MAX || table.calls.contains_key(&call.call);
                if room {
                    table.calls.insert(call.call.clone(), call);
                }
            }
            // A later version of the library tells more.
            _ => {}
        }
    }

    /// Returns the calls under way, the newest first.
    pub(crate) fn calls(&self) -> Vec<LiveCall> {
        let mut calls: Vec<LiveCall> = self.0.lock_recovered().calls.values().cloned().collect();
        calls.sort_by(|one, other| (other.started, &other.call).cmp(&(one.started, &one.call)));
        calls
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
