//! The steps of a call that are measured.

use std::time::{Duration, Instant};

/// A step of a call whose time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallStep {
    /// The policy, the plugin's reviewer and the hooks decide. This does not include the wait for an approver.
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
