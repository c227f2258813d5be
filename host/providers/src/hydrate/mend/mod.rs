//! Arguments that are not what their schema asks for, and how they can come to be: the nulls that a strict format makes
//! a model write are taken away, and where the policy lets arguments be mended, that is tried once.
//!
//! What comes of it is a proposal: it counts only if the schema itself takes it, and what was mended is put to a
//! person. No value is invented, and no member that a model wrote is taken away but a null.

mod convert;
mod text;
mod walk;

use portcullis::parse_json;
use portcullis::plugins::Tool;
use portcullis::provenance::Repair;
use serde_json::Value;
use std::time::Duration;
use walk::{Rules, Walk};

/// Looks at a value beside a schema, of the calls of one answer together. At some 100 ns each this is a tenth of a
/// second.
const STEPS_MAX: usize = 1_000_000;

/// Time for which the calls of one answer are validated before they reach the host, which validates each again. A usual
/// call takes a millionth of it.
const VALIDATION_TIME_MAX: Duration = Duration::from_secs(1);

/// What the calls of one answer may still cost.
#[derive(Debug)]
pub(super) struct Effort {
    steps: usize,
    validation: Duration,
}

impl Effort {
    /// For a fresh answer.
    pub(super) fn new() -> Self {
        Self { steps: STEPS_MAX, validation: VALIDATION_TIME_MAX }
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.steps == 0 || self.validation.is_zero()
    }

    /// A validation took so long.
    pub(super) fn validated(&mut self, took: Duration) {
        self.validation = self.validation.saturating_sub(took);
    }
}

/// Takes away the nulls that stand for members left out: those that the schema neither asks for nor lets be null. What
/// is wrong beside them stays wrong. The pointers of what was taken away.
pub(super) fn take_nulls(tool: &Tool, arguments: &mut Value, effort: &mut Effort) -> Vec<String> {
    let mut walk = Walk::new(tool.schema().document(), Rules::Nulls, effort);
    walk.root(arguments);
    walk.changes.into_iter().map(|change| change.pointer).collect()
}

/// Reads a text that is no JSON as what it was meant to be. What it becomes is read as strictly as any other: a key
/// that comes twice is never mended, nor a number that would be rounded.
pub(super) fn text(text: &str) -> Option<(Value, Vec<Repair>)> {
    let (mended, changes) = text::mend(text)?;
    let value = parse_json(&mended).ok()?;
    let repair = |what: &&str| Repair { pointer: String::new(), what: (*what).to_owned() };
    Some((value, changes.iter().map(repair).collect()))
}

/// Changes values to what the schema asks for, where they say exactly that in another form. What was changed; nothing
/// where that is too much to be told.
pub(super) fn values(tool: &Tool, arguments: &mut Value, effort: &mut Effort) -> Option<Vec<Repair>> {
    let mut walk = Walk::new(tool.schema().document(), Rules::All, effort);
    walk.root(arguments).then_some(walk.changes)
}
