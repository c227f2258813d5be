//! The steps of a call that are measured.

use std::time::{Duration, Instant};

/// A step of a call whose time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallStep {
    /// The host checks the call, decides it by the policy, the plugin's reviewer and the hooks, and prepares its
    /// handles. This does not include the wait for an approver.
    Decide,
    /// The call waits for an approver, before or while it runs.
    Approval,
    /// The call waits for its turn in its batch and for the order of its session.
    Queue,
    /// The call waits for a run slot.
    Slot,
    /// The host creates the sandbox, and instantiates the plugin in it.
    Instantiate,
    /// The tool runs.
    Execute,
}

impl CallStep {
    /// All steps, in their usual order.
    pub const ALL: [Self; 6] =
        [Self::Decide, Self::Approval, Self::Queue, Self::Slot, Self::Instantiate, Self::Execute];

    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Approval => "approval",
            Self::Queue => "queue",
            Self::Slot => "slot",
            Self::Instantiate => "instantiate",
            Self::Execute => "execute",
        }
    }
}

/// When one step of a call began, and how long it took. A step that was taken several times has the sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepTime {
    pub(crate) began: Instant,
    pub(crate) took: Duration,
}

/// The times of the steps that a call has taken so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepTimes {
    steps: [Option<StepTime>; CallStep::ALL.len()],
    /// When the current wait for an approver began.
    waiting_since: Option<Instant>,
    /// How long the call waited for an approver before it ran. `None` if it did not run.
    approved_after: Option<Duration>,
    run_began: Option<Instant>,
}

impl StepTimes {
    pub(crate) fn add(&mut self, step: CallStep, began: Instant, took: Duration) {
        if let Some(place) = self.steps.get_mut(step as usize) {
            match place {
                Some(before) => before.took += took,
                None => *place = Some(StepTime { began, took }),
            }
        }
    }

    /// Begins a wait for an approver, unless one has begun.
    pub(crate) fn wait(&mut self) {
        self.waiting_since.get_or_insert_with(Instant::now);
    }

    /// Ends the wait for an approver, if one has begun.
    pub(crate) fn end_wait(&mut self) {
        if let Some(began) = self.waiting_since.take() {
            self.add(CallStep::Approval, began, began.elapsed());
        }
    }

    /// Notes that the tool is about to run.
    pub(crate) fn begin_run(&mut self) {
        self.approved_after = Some(self.took(CallStep::Approval));
    }

    /// Notes a run, and the part of it before a guest's own code began.
    pub(crate) fn run(&mut self, began: Instant, instantiation: Option<Duration>, wall: Duration) {
        self.run_began = Some(began);
        if let Some(instantiation) = instantiation {
            self.add(CallStep::Instantiate, began, instantiation);
        }
        let before = instantiation.unwrap_or_default();
        self.add(CallStep::Execute, began + before, wall.saturating_sub(before));
    }

    /// Notes that the call has ended. What it did before its run, and did not wait for, is its decision.
    pub(crate) fn end(&mut self, began: Instant, took: Duration) {
        self.end_wait();
        if self.approved_after.is_some() && self.run_began.is_none() {
            // Dropped while the tool ran, so the time of the decision is not known.
            return;
        }
        let until = self.run_began.map_or(took, |run| run.saturating_duration_since(began));
        let approval = self.approved_after.unwrap_or_else(|| self.took(CallStep::Approval));
        let waits = approval + self.took(CallStep::Queue) + self.took(CallStep::Slot);
        self.add(CallStep::Decide, began, until.saturating_sub(waits));
    }

    fn took(&self, step: CallStep) -> Duration {
        self.get(step).map_or(Duration::ZERO, |time| time.took)
    }

    /// Returns how long a step took, for the metrics. A call that ran without a wait waited for no time.
    pub(crate) fn measured(&self, step: CallStep) -> Option<Duration> {
        let ran = self.get(CallStep::Execute).is_some();
        let is_admission = matches!(step, CallStep::Queue | CallStep::Slot);
        self.get(step).map(|time| time.took).or_else(|| (ran && is_admission).then_some(Duration::ZERO))
    }

    pub(crate) fn get(&self, step: CallStep) -> Option<StepTime> {
        self.steps.get(step as usize).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_has_its_own_place_and_repeated_steps_add_up() {
        let (mut times, began) = (StepTimes::default(), Instant::now());
        for (index, step) in CallStep::ALL.into_iter().enumerate() {
            assert_eq!(step as usize, index, "{}", step.as_str());
            assert!(times.get(step).is_none());
            times.add(step, began, Duration::from_millis(1));
            times.add(step, began + Duration::from_secs(1), Duration::from_millis(2));
            let time = times.get(step).unwrap();
            assert_eq!((time.began, time.took), (began, Duration::from_millis(3)));
        }
    }

    #[test]
    fn the_decision_is_what_came_before_the_run_without_the_waits() {
        let (second, began) = (Duration::from_secs(1), Instant::now());
        let mut times = StepTimes::default();
        times.add(CallStep::Approval, began, second);
        times.begin_run();
        times.add(CallStep::Slot, began, 2 * second);
        times.run(began + 10 * second, Some(second), 5 * second);
        // An approver who is asked by the running tool does not belong to the decision.
        times.add(CallStep::Approval, began, 3 * second);
        times.end(began, 20 * second);
        let took = CallStep::ALL.map(|step| times.measured(step).map(|took| took.as_secs()));
        assert_eq!(took, [Some(7), Some(4), Some(0), Some(2), Some(1), Some(4)]);
        let mut denied = StepTimes::default();
        denied.end(began, 4 * second);
        let took = CallStep::ALL.map(|step| denied.measured(step).map(|took| took.as_secs()));
        assert_eq!(took, [Some(4), None, None, None, None, None]);
    }

    #[test]
    fn a_wait_that_was_not_begun_has_no_time() {
        let mut times = StepTimes::default();
        times.end_wait();
        assert!(times.get(CallStep::Approval).is_none());
        times.wait();
        times.wait();
        times.end_wait();
        assert!(times.get(CallStep::Approval).is_some());
    }
}
