//! The budget for checking and repairing the calls of one answer.

use std::time::Duration;

/// Maximum steps for all calls of one answer. A step compares one value with one schema, and takes about 100 ns, so
/// this is a tenth of a second.
const STEPS_MAX: usize = 1_000_000;

/// Maximum time to validate the calls of one answer before the host validates each again. A usual call takes a
/// millionth of it.
const VALIDATION_TIME_MAX: Duration = Duration::from_secs(1);

/// The remaining steps and time for the calls of one answer.
#[derive(Debug)]
pub(in crate::hydrate) struct Effort {
    pub(super) steps: usize,
    validation: Duration,
}

impl Effort {
    /// Creates the budget for one answer.
    pub(in crate::hydrate) fn new() -> Self {
        Self { steps: STEPS_MAX, validation: VALIDATION_TIME_MAX }
    }

    /// Returns whether the steps or the time are used up.
    pub(in crate::hydrate) fn is_spent(&self) -> bool {
        self.steps == 0 || self.validation.is_zero()
    }

    /// Subtracts the time of a validation.
    pub(in crate::hydrate) fn validated(&mut self, took: Duration) {
        self.validation = self.validation.saturating_sub(took);
    }
}
