//! The error for a model that names a tool that was not offered.

use crate::definitions::{Defined, Definitions};
use portcullis::text::OneLine;
use std::fmt::Write;

/// Maximum bytes of the name that the error repeats: twice what any provider accepts.
const NAME_BYTES_MAX: usize = 128;

/// Maximum tools that the error names.
const NEAR_MAX: usize = 5;

/// Returns the error. It names similar tools first, and then other offered ones.
pub(super) fn message(definitions: &Definitions, name: &str) -> String {
    let shown = &name[..name.floor_char_boundary(NAME_BYTES_MAX)];
    let mut message = match shown {
        "" => "The call names no tool.".to_owned(),
        _ => format!("The tool {} was not offered.", OneLine(shown)),
    };
    let mut near: Vec<(u8, &str)> =
        definitions.tools().iter().map(|tool| (distance(tool, shown), &*tool.name)).collect();
    near.sort_by_key(|(distance, _)| *distance);
    let names: Vec<&str> = near.iter().take(NEAR_MAX).map(|(_, name)| *name).collect();
    if !names.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(message, " Available tools include: {}.", names.join(", "));
    }
    message
}

/// Returns how different a name is from a tool's: the same except for case and punctuation, the same end, the same
/// plugin, or none of these.
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

/// Returns the letters and digits of a name in lower case.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|character| character.is_alphanumeric()).map(|character| character.to_ascii_lowercase())
}
