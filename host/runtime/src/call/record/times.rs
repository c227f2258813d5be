//! Measures the steps of a call.

use super::CallRecord;
use crate::metrics::CallStep;
use std::time::{Duration, Instant};

impl CallRecord {
    /// Notes the time of the decision, which has just ended. The wait for an approver is a step of its own.
    pub(in crate::call) fn authorized(&self, began: Instant) {
        self.shared.entry.note(|facts| {
            facts.times.end_wait();
            let waited = facts.times.get(CallStep::Approval).map_or(Duration::ZERO, |time| time.took);
            facts.times.add(CallStep::Decide, began, began.elapsed().saturating_sub(waited));
        });
    }

    /// Notes how long the call waited for its turn and the order of its session, and then for a run slot. That wait has
    /// just ended. `ordered` is `None` if it ended before the order was taken, or if another call lends both.
    pub(in crate::call) fn admitted(&self, began: Instant, ordered: Option<Instant>) {
        let now = Instant::now();
        let ordered = ordered.unwrap_or(now);
        self.shared.entry.note(|facts| {
            facts.times.add(CallStep::Queue, began, ordered.saturating_duration_since(began));
            facts.times.add(CallStep::Slot, ordered, now.saturating_duration_since(ordered));
        });
    }

    /// Notes the time of the run, which has just ended, and the part of it before the guest's code began.
    pub(in crate::call) fn ran_since(&self, began: Instant, instantiation: Option<Duration>) {
        let whole = began.elapsed();
        self.shared.entry.note(|facts| {
            let before = instantiation.unwrap_or_default();
            if instantiation.is_some() {
                facts.times.add(CallStep::Instantiate, began, before);
            }
            facts.times.add(CallStep::Execute, began + before, whole.saturating_sub(before));
        });
    }
}
