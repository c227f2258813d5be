//! Makes one replacement in a text.

use portcullis_sdk::prelude::*;

use crate::endings::Endings;
use crate::nearest;

/// Maximum number of occurrences to list in an error.
const OCCURRENCES_TOLD: usize = 10;

/// One replacement.
#[arguments]
pub(crate) struct Replacement {
    /// The exact text to replace, without line numbers. It must occur once, unless replace_all is set.
    #[schemars(length(min = 1))]
    pub(super) old: String,
    /// The text to put in its place.
    pub(super) new: String,
    /// Replaces every occurrence.
    #[serde(default)]
    replace_all: bool,
}

/// Returns the text after the replacement and how many were made, or the error for the model.
pub(super) fn apply(text: &str, edit: &Replacement, endings: Endings) -> Result<(String, usize), String> {
    for (old, new) in endings.spell(&edit.old, &edit.new) {
        if edit.replace_all {
            let count = text.matches(&old).count();
            if count > 0 {
                return Ok((text.replace(&old, &new), count));
            }
            continue;
        }
        let found = occurrences(text, &old);
        match found.as_slice() {
            [] => {}
            [position] => return Ok((splice(text, *position, &old, &new), 1)),
            found => return Err(ambiguous(text, found)),
        }
    }
    at_the_end(text, edit, endings)
        .map(|text| (text, 1))
        .ok_or_else(|| nearest::describe("old does not occur", text, &edit.old))
}

/// Returns where a text occurs, including overlapping occurrences. Stops one after the maximum to list.
fn occurrences(text: &str, old: &str) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut found = Vec::new();
    let mut position = 0;
    while let Some(offset) = text.get(position..).and_then(|rest| rest.find(old)) {
        found.push(position + offset);
        if found.len() > OCCURRENCES_TOLD {
            break;
        }
        // Go on after one character and not after the match: of two that overlap, either may be meant.
        position += offset + step;
    }
    found
}

fn splice(text: &str, position: usize, old: &str, new: &str) -> String {
    let mut result = String::with_capacity(text.len() + new.len());
    result.push_str(&text[..position]);
    result.push_str(new);
    result.push_str(&text[position + old.len()..]);
    result
}

fn ambiguous(text: &str, found: &[usize]) -> String {
    let lines: Vec<String> =
        found.iter().take(OCCURRENCES_TOLD).map(|found| line_of(text, *found).to_string()).collect();
    let (times, more) = match found.len() > OCCURRENCES_TOLD {
        true => (format!("more than {OCCURRENCES_TOLD}"), ", ..."),
        false => (found.len().to_string(), ""),
    };
    let lines = lines.join(", ");
    format!(
        "old occurs {times} times, on lines {lines}{more}; add surrounding lines until it is unique, or set replace_all"
    )
}

fn line_of(text: &str, position: usize) -> usize {
    text[..position].matches('\n').count() + 1
}

/// Replaces text at the end of a file that has no final newline. A model cannot see that the newline is missing, so it
/// is removed from the edit too, and the file still ends without one.
fn at_the_end(text: &str, edit: &Replacement, endings: Endings) -> Option<String> {
    let old = edit.old.strip_suffix('\n').filter(|old| !old.is_empty())?;
    let new = edit.new.strip_suffix('\n').unwrap_or(&edit.new);
    let spelled = endings.spell(old.trim_end_matches('\r'), new.trim_end_matches('\r'));
    let (old, new) = spelled.into_iter().find(|(old, _)| text.ends_with(old))?;
    Some(splice(text, text.len() - old.len(), &old, &new))
}
