//! Measures the steps of a call. An ordinary call waits for nothing, and reads the clock once for all of this: each
//! reading costs it 25 to 50 ns.

use super::CallRecord;
use crate::admission::AdmissionWaits;
use crate::metrics::CallStep;
use std::time::{Duration, Instant};

impl CallRecord {
    /// Notes how long the call waited for its turn, for the order of its session and for a run slot.
    pub(in crate::call) fn admitted(&self, waits: &AdmissionWaits) {
        let queue = [waits.turn, waits.order].map(|wait| (CallStep::Queue, wait));
        for (step, wait) in queue.into_iter().chain([(CallStep::Slot, waits.slot)]) {
            if let Some(wait) = wait {
                self.shared.entry.note(|facts| facts.times.add(step, wait.began, wait.took));
            }
        }
    }

    /// Notes the time of the run, which has just ended. `sandbox` is when the run of a guest began, and the part of it
    /// before its own code began.
    pub(in crate::call) fn finished_run(&self, sandbox: Option<(Instant, Option<Duration>)>, wall: Duration) {
        let (began, instantiation) = sandbox.unwrap_or_else(|| {
            let now = Instant::now();
            (now.checked_sub(wall).unwrap_or(now), None)
        });
        self.shared.entry.note(|facts| facts.times.run(began, instantiation, wall));
    }
}
