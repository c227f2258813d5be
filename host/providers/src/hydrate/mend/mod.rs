//! Repairs arguments that do not match their schema. The nulls that a strict format forces a model to write are
//! removed. If the policy permits repairs, one more attempt is made.
//!
//! The result is a proposal. It counts only if it matches the schema, and repaired arguments need approval. No value is
//! invented, and no member is removed except nulls.

mod convert;
mod effort;
mod text;
mod walk;

pub(super) use effort::Effort;
use portcullis::parse_json;
use portcullis::plugins::Tool;
use portcullis::provenance::Repair;
use serde_json::Value;
use walk::{MendWalk, Rules};

/// Removes the nulls of optional members whose schema does not permit null. Other mismatches stay. Returns the pointers
/// of the removed nulls.
pub(super) fn take_nulls(tool: &Tool, arguments: &mut Value, effort: &mut Effort) -> Vec<String> {
    let mut walk = MendWalk::new(tool.schema().document(), Rules::Nulls, effort);
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
    let mut walk = MendWalk::new(tool.schema().document(), Rules::All, effort);
    walk.root(arguments).then_some(walk.changes)
}
