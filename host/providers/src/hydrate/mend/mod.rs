//! Repairs arguments that do not match their schema. The nulls that a strict format forces a model to write are
//! removed. If the policy permits repairs, one more attempt is made.
//!
//! The result is a proposal. It counts only if it matches the schema, and repaired arguments need approval. No value is
//! invented, and no member is removed except nulls.

mod convert;
mod text;
mod walk;

use portcullis::{Repair, Tool, parse_json};
use serde_json::Value;
use std::time::Duration;
use walk::{Rules, Walk};

/// Maximum steps for all calls of one answer. A step compares one value with one schema, and takes about 100 ns, so
/// this is a tenth of a second.
const STEPS_MAX: usize = 1_000_000;

/// Maximum time to validate the calls of one answer before the host validates each again. A usual call takes a
/// millionth of it.
const VALIDATION_TIME_MAX: Duration = Duration::from_secs(1);

/// The remaining steps and time for the calls of one answer.
#[derive(Debug)]
pub(super) struct Effort {
    steps: usize,
    validation: Duration,
}

impl Effort {
    /// Creates the budget for one answer.
    pub(super) fn new() -> Self {
        Self { steps: STEPS_MAX, validation: VALIDATION_TIME_MAX }
    }

    /// Returns whether the steps or the time are used up.
    pub(super) fn is_spent(&self) -> bool {
        self.steps == 0 || self.validation.is_zero()
    }

    /// Subtracts the time of a validation.
    pub(super) fn validated(&mut self, took: Duration) {
        self.validation = self.validation.saturating_sub(took);
    }
}

/// Removes the nulls of optional members whose schema does not permit null. Other mismatches stay. Returns the pointers
/// of the removed nulls.
pub(super) fn take_nulls(tool: &Tool, arguments: &mut Value, effort: &mut Effort) -> Vec<String> {
    let mut walk = Walk::new(tool.schema().document(), Rules::Nulls, effort);
    walk.root(arguments);
    walk.changes.into_iter().map(|change| change.pointer).collect()
}

/// Repairs a text that is not JSON. The result is parsed as strictly as any other: duplicate keys and numbers that
/// would be rounded are never repaired.
pub(super) fn text(text: &str) -> Option<(Value, Vec<Repair>)> {
    let (mended, changes) = text::mend(text)?;
    let value = parse_json(&mended).ok()?;
    let repair = |what: &&str| Repair { pointer: String::new(), what: (*what).to_owned() };
    Some((value, changes.iter().map(repair).collect()))
}

/// Converts values to equivalent ones that the schema expects. Returns the changes, or none if there are too many to
/// show.
pub(super) fn values(tool: &Tool, arguments: &mut Value, effort: &mut Effort) -> Option<Vec<Repair>> {
    let mut walk = Walk::new(tool.schema().document(), Rules::All, effort);
    walk.root(arguments).then_some(walk.changes)
}
