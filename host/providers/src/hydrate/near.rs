//! What is said to a model that names a tool that it was not offered.

use crate::definitions::{Defined, Definitions};
use portcullis::text::OneLine;
use std::fmt::Write;

/// The longest name that is repeated to the model, in bytes: twice what any provider takes.
const NAME_BYTES_MAX: usize = 128;

/// The most tools that are named to it.
const NEAR_MAX: usize = 5;

/// There is no such tool; those that are most like it, and otherwise the first that there are.
pub(super) fn message(definitions: &Definitions, name: &str) -> String {
    let shown = &name[..name.floor_char_boundary(NAME_BYTES_MAX)];
    let mut message = match shown {
        "" => "The call names no tool.".to_owned(),
        _ => format!("There is no tool {} among those that were offered.", OneLine(shown)),
    };
    let mut near: Vec<(u8, &str)> =
        definitions.tools().iter().map(|tool| (distance(tool, shown), &*tool.name)).collect();
    near.sort_by_key(|(distance, _)| *distance);
    let names: Vec<&str> = near.iter().take(NEAR_MAX).map(|(_, name)| *name).collect();
    if !names.is_empty() {
        let _ = write!(message, " Available tools include: {}.", names.join(", "));
    }
    message
}

/// How unlike a tool a name is: the same but for case and signs, the same end, the same plugin, or nothing of these.
fn distance(tool: &Defined, name: &str) -> u8 {
    let full = tool.offer.tool.name();
    if letters(&tool.name).eq(letters(name)) {
        0
    } else if !name.is_empty() && name.ends_with(full.tool.as_str()) {
        1
    } else if name.starts_with(full.plugin.as_str()) {
        2
    } else {
        3
    }
}

/// What of a name is heard when it is read aloud.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|character| character.is_alphanumeric()).map(|character| character.to_ascii_lowercase())
}
