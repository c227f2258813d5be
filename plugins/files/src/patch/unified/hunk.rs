//! A hunk of a unified patch: its line numbers, and the lines that it takes.

use crate::patch::error::PatchError;
use crate::patch::format::PatchLines;
use crate::patch::hunk::{Hunk, Mark};

/// The line numbers of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) struct HunkRange {
    old_start: usize,
    old_lines: usize,
    new_lines: usize,
}

impl HunkRange {
    /// Returns the line in which the old lines begin. Without old lines, the number has another meaning.
    pub(in crate::patch) fn claimed_line(self) -> Option<usize> {
        (self.old_lines > 0).then_some(self.old_start)
    }
}

/// Parses what follows the first `@@` of a hunk. Returns `None` if these are not line numbers.
pub(in crate::patch) fn range(header: &str) -> Option<HunkRange> {
    let (ranges, _) = header.split_once("@@")?;
    let (old, new) = ranges.trim().split_once(' ')?;
    let (old_start, old_lines) = numbers(old.strip_prefix('-')?)?;
    let (_, new_lines) = numbers(new.trim_start().strip_prefix('+')?)?;
    Some(HunkRange { old_start, old_lines, new_lines })
}

fn numbers(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, length)) => Some((start.parse().ok()?, length.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Parses a hunk.
pub(super) fn parse<'p>(lines: &mut PatchLines<'p>) -> Result<Hunk<'p>, PatchError> {
    let mut hunk = Hunk::at(lines.number());
    let header = lines.peek().and_then(|line| line.strip_prefix("@@")).unwrap_or_default();
    lines.skip();
    match range(header) {
        Some(range) => {
            hunk.claimed_line = range.claimed_line();
            match counted(lines.rest(), range) {
                Some(count) => counted_lines(&mut hunk, lines, count)?,
                // Models often count wrong. The marks of the lines say the same.
                None => marked_lines(&mut hunk, lines, is_file_name)?,
            }
        }
        None if header.trim().is_empty() => marked_lines(&mut hunk, lines, is_file_name)?,
        None => {
            let text = "expected line numbers, such as `@@ -1,3 +1,4 @@`, or `@@` alone";
            return Err(PatchError::at(hunk.patch_line, text));
        }
    }
    match hunk.lines.is_empty() {
        true => Err(PatchError::at(hunk.patch_line, "the hunk has no lines that begin with ` `, `-` or `+`")),
        false => Ok(hunk),
    }
}

/// Returns how many lines of the patch a hunk takes by its numbers. Returns `None` if the numbers are wrong.
///
/// Only they distinguish a removed line `-- x` from the name of the next file.
fn counted(rest: &[&str], range: HunkRange) -> Option<usize> {
    let (mut old, mut new) = (range.old_lines, range.new_lines);
    let mut taken = 0;
    while old > 0 || new > 0 {
        let line = rest.get(taken)?;
        taken += 1;
        match Mark::of(line) {
            Some(Mark::Removed) => old = old.checked_sub(1)?,
            Some(Mark::Added) => new = new.checked_sub(1)?,
            Some(Mark::Context) => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            None if line.is_empty() => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            None if line.starts_with('\\') => {}
            None => return None,
        }
    }
    taken += rest[taken..].iter().take_while(|line| line.starts_with('\\')).count();
    // If a line with a mark follows, the numbers are too small.
    let goes_on = rest.get(taken).is_some_and(|line| Mark::of(line).is_some()) && !is_file_name(&rest[taken..]);
    (!goes_on).then_some(taken)
}

fn counted_lines<'p>(hunk: &mut Hunk<'p>, lines: &mut PatchLines<'p>, count: usize) -> Result<(), PatchError> {
    for _ in 0..count {
        let Some(line) = lines.peek() else { break };
        match Mark::of(line) {
            Some(mark) => hunk.push(mark, &line[1..], lines.number())?,
            None if line.is_empty() => hunk.push(Mark::Context, "", lines.number())?,
            None => hunk.unterminate(lines.number())?,
        }
        lines.skip();
    }
    Ok(())
}

/// Reads lines as long as they begin with a mark. An empty line between them is an empty line of context, because
/// many programs remove a blank at the end of a line. Stops also where `is_next_file` says so.
pub(in crate::patch) fn marked_lines<'p>(
    hunk: &mut Hunk<'p>,
    lines: &mut PatchLines<'p>,
    is_next_file: fn(&[&str]) -> bool,
) -> Result<(), PatchError> {
    let mut blanks = 0;
    while let Some(line) = lines.peek() {
        if is_next_file(lines.rest()) {
            break;
        }
        match Mark::of(line) {
            Some(mark) => {
                for blank in (1..=blanks).rev() {
                    hunk.push(Mark::Context, "", lines.number() - blank)?;
                }
                blanks = 0;
                hunk.push(mark, &line[1..], lines.number())?;
            }
            None if line.is_empty() => blanks += 1,
            None if line.starts_with('\\') && blanks == 0 => hunk.unterminate(lines.number())?,
            None => break,
        }
        lines.skip();
    }
    Ok(())
}

/// Returns whether the next lines name the old and the new file of a section.
fn is_file_name(rest: &[&str]) -> bool {
    matches!(rest, [old, new, ..] if old.starts_with("--- ") && new.starts_with("+++ "))
}
