//! Finds the place of a hunk in a file. Lines must be equal to the last byte: a hunk that matches almost could change
//! another place than the model means.

use super::hunk::Hunk;
use crate::sequence::occurrences;

/// Maximum number of places to list in an error.
pub(super) const PLACES_TOLD: usize = 10;

/// Why a hunk has no place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit<'p> {
    /// The old lines do not occur.
    Missing,
    /// The old lines occur only before the end of the hunk before: at this line, counted from 1.
    OutOfOrder(usize),
    /// The old lines occur at several lines, counted from 1: at most [`PLACES_TOLD`], and whether there are more.
    Ambiguous(Vec<usize>, bool),
    /// The old lines occur, but not at the end of the file.
    NotAtEnd(usize),
    /// The patch expects no newline at the end of the file, and the file has one.
    Terminated,
    /// The patch adds lines without a line of the file next to them.
    NoOldLines,
    /// A header is no line of the rest of the file.
    NoHeader(&'p str),
    /// A header is a line at several places.
    AmbiguousHeader(&'p str, Vec<usize>, bool),
}

/// Returns the line at which a hunk begins, counted from 0, in the lines from `from` on.
pub(super) fn locate<'p>(
    lines: &[&str],
    is_unterminated: bool,
    from: usize,
    hunk: &Hunk<'p>,
) -> Result<usize, Misfit<'p>> {
    let old = hunk.old_lines();
    if old.is_empty() {
        return if hunk.is_at_end || lines.is_empty() { Ok(lines.len()) } else { Err(Misfit::NoOldLines) };
    }
    let found = occurrences(&lines[from..], &old, PLACES_TOLD + 1);
    let found: Vec<usize> = found.into_iter().map(|start| start + from).collect();
    let Some(first) = found.first().copied() else {
        return Err(match occurrences(lines, &old, 1).first() {
            Some(start) => Misfit::OutOfOrder(start + 1),
            None => Misfit::Missing,
        });
    };
    if hunk.ends_the_file() {
        let last = lines.len().checked_sub(old.len()).filter(|last| *last >= from && is_at(lines, *last, &old));
        return match last {
            Some(last) if is_unterminated || !hunk.old_is_unterminated => Ok(last),
            Some(_) => Err(Misfit::Terminated),
            None => Err(Misfit::NotAtEnd(first + 1)),
        };
    }
    if !hunk.headers.is_empty() {
        return locate_after_headers(lines, from, hunk, &old, &found);
    }
    match found.as_slice() {
        [start] => Ok(*start),
        found => match hunk.claimed_line.and_then(|line| line.checked_sub(1)) {
            // Line numbers only choose among places that match. Models often count wrong.
            Some(claimed) if claimed >= from && is_at(lines, claimed, &old) => Ok(claimed),
            Some(_) | None => Err(ambiguous(found)),
        },
    }
}

/// Returns the first line of a hunk from its headers on.
fn locate_after_headers<'p>(
    lines: &[&str],
    from: usize,
    hunk: &Hunk<'p>,
    old: &[&str],
    found: &[usize],
) -> Result<usize, Misfit<'p>> {
    let mut start = from;
    for (depth, header) in hunk.headers.iter().copied().enumerate() {
        let rest = lines.iter().enumerate().skip(start);
        let equal = rest.filter(|(_, line)| line.trim() == header).map(|(index, _)| index);
        let equal: Vec<usize> = equal.take(PLACES_TOLD + 1).collect();
        let Some(first) = equal.first().copied() else { return Err(Misfit::NoHeader(header)) };
        // A header within another one is the first of its name there. If there is one place for the lines, then it
        // does not matter which header was meant.
        if depth == 0 && equal.len() > 1 && found.len() > 1 {
            let (places, more) = told(&equal);
            return Err(Misfit::AmbiguousHeader(header, places, more));
        }
        // Search from the header's own line on, because a hunk can repeat it as context.
        start = first;
    }
    match occurrences(&lines[start..], old, 1).first() {
        Some(offset) => Ok(start + offset),
        None => Err(Misfit::Missing),
    }
}

fn is_at(lines: &[&str], start: usize, old: &[&str]) -> bool {
    lines.get(start..).is_some_and(|rest| rest.starts_with(old))
}

fn ambiguous<'p>(found: &[usize]) -> Misfit<'p> {
    let (places, more) = told(found);
    Misfit::Ambiguous(places, more)
}

fn told(found: &[usize]) -> (Vec<usize>, bool) {
    (found.iter().take(PLACES_TOLD).map(|start| start + 1).collect(), found.len() > PLACES_TOLD)
}
