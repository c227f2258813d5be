//! What the calls of one answer may still cost.

use std::time::Duration;

/// Looks at a value beside a schema, of the calls of one answer together. At some 100 ns each this is a tenth of a
/// second.
const STEPS_MAX: usize = 1_000_000;

/// Time for which the calls of one answer are validated before they reach the host, which validates each again. A usual
/// call takes a millionth of it.
const VALIDATION_TIME_MAX: Duration = Duration::from_secs(1);

/// What the calls of one answer may still cost.
#[derive(Debug)]
pub(in crate::hydrate) struct Effort {
    pub(super) steps: usize,
    validation: Duration,
}

impl Effort {
    /// For a fresh answer.
    pub(in crate::hydrate) fn new() -> Self {
        Self { steps: STEPS_MAX, validation: VALIDATION_TIME_MAX }
    }

    /// Whether nothing is left.
    pub(in crate::hydrate) fn is_spent(&self) -> bool {
        self.steps == 0 || self.validation.is_zero()
    }

    /// A validation took so long.
    pub(in crate::hydrate) fn validated(&mut self, took: Duration) {
        self.validation = self.validation.saturating_sub(took);
    }
}
