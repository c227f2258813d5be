//! Makes one replacement in a text.

use std::borrow::Cow;

use portcullis_sdk::prelude::*;

use crate::endings::{Endings, to_lf};
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
    let old = to_lf(&edit.old);
    let searched = SearchedText::of(text);
    if let Some(found) = find(&searched, &old, edit)? {
        return Ok((searched.replace(&found, old.len(), &edit.new, endings), found.len()));
    }
    if edit.old.contains('\r') {
        // A carriage return without a line feed can be the one of a line ending.
        let exact = SearchedText::exact(text);
        if let Some(found) = find(&exact, &edit.old, edit)? {
            return Ok((exact.replace(&found, edit.old.len(), &edit.new, endings), found.len()));
        }
    }
    at_the_end(&searched, edit, endings)
        .map(|text| (text, 1))
        .ok_or_else(|| nearest::describe("old does not occur", text, &edit.old))
}

/// Returns where to replace; none if the text does not occur.
fn find(searched: &SearchedText, old: &str, edit: &Replacement) -> Result<Option<Vec<usize>>, String> {
    let found = match edit.replace_all {
        true => searched.plain.match_indices(old).map(|(position, _)| position).collect(),
        false => occurrences(&searched.plain, old),
    };
    match found.len() {
        0 => Ok(None),
        1 => Ok(Some(found)),
        _ if edit.replace_all => Ok(Some(found)),
        _ => Err(ambiguous(&searched.plain, &found)),
    }
}

/// A text with the line endings that a model writes. In a file, each `\n` of it can be spelled in another way.
struct SearchedText<'a> {
    original: &'a str,
    plain: Cow<'a, str>,
    /// The positions in `plain` of the line feeds that are `\r\n` in the original.
    shortened: Vec<usize>,
}

impl<'a> SearchedText<'a> {
    fn of(original: &'a str) -> Self {
        // Each line ending before has lost a byte.
        let positions = original.match_indices("\r\n").enumerate();
        let shortened = positions.map(|(index, (position, _))| position - index).collect();
        Self { original, plain: to_lf(original), shortened }
    }

    /// Creates a text that is searched as it is.
    fn exact(original: &'a str) -> Self {
        Self { original, plain: Cow::Borrowed(original), shortened: Vec::new() }
    }

    fn original_position(&self, position: usize) -> usize {
        position + self.shortened.partition_point(|shortened| *shortened < position)
    }

    /// Replaces what has this length at these positions. New lines end like those that they replace, or as most of the
    /// file.
    fn replace(&self, positions: &[usize], length: usize, new: &str, endings: Endings) -> String {
        let mut result = String::with_capacity(self.original.len() + new.len());
        let mut copied = 0;
        for position in positions {
            let (start, end) = (self.original_position(*position), self.original_position(position + length));
            let replaced = &self.original[start..end];
            let endings = if replaced.contains('\n') { Endings::of(replaced) } else { endings };
            result.push_str(&self.original[copied..start]);
            result.push_str(&endings.spell(new));
            copied = end;
        }
        result.push_str(&self.original[copied..]);
        result
    }
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
fn at_the_end(searched: &SearchedText, edit: &Replacement, endings: Endings) -> Option<String> {
    let (old, new) = (to_lf(&edit.old), to_lf(&edit.new));
    let old = old.strip_suffix('\n').filter(|old| !old.is_empty())?;
    let start = searched.plain.strip_suffix(old)?.len();
    Some(searched.replace(&[start], old.len(), new.strip_suffix('\n').unwrap_or(&new), endings))
}
