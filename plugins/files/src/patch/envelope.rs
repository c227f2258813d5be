//! The format from `*** Begin Patch` to `*** End Patch`.

use super::error::PatchError;
use super::format::{FileAction, FilePatch, PatchLines, path};
use super::hunk::{Hunk, Mark};
use super::unified;

const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Parses a patch from its first line on.
pub(super) fn parse<'p>(lines: &mut PatchLines<'p>) -> Result<Vec<FilePatch<'p>>, PatchError> {
    lines.skip();
    let mut files = Vec::new();
    loop {
        lines.skip_blank();
        let patch_line = lines.number();
        let Some(line) = lines.peek() else {
            return Err(PatchError::at(patch_line, format!("the patch does not end with `{END}`")));
        };
        lines.skip();
        if line.trim_end() == END {
            break;
        }
        files.push(file(line, patch_line, lines)?);
    }
    lines.skip_blank();
    if lines.peek().is_some() {
        return Err(PatchError::at(lines.number(), format!("text follows `{END}`; end the patch there")));
    }
    if files.is_empty() {
        return Err(PatchError::at(1, "the patch names no file"));
    }
    Ok(files)
}

/// Parses the section of a file, after its first line.
fn file<'p>(line: &'p str, patch_line: usize, lines: &mut PatchLines<'p>) -> Result<FilePatch<'p>, PatchError> {
    let place = |written: &str| path(written.trim(), patch_line);
    if let Some(written) = line.strip_prefix(ADD) {
        let place = place(written)?;
        return Ok(FilePatch { patch_line, place, action: FileAction::Add { content: content(lines) } });
    }
    if let Some(written) = line.strip_prefix(DELETE) {
        return Ok(FilePatch { patch_line, place: place(written)?, action: FileAction::Delete { expected: None } });
    }
    let Some(written) = line.strip_prefix(UPDATE) else {
        let text = format!("expected `{ADD} PATH`, `{DELETE} PATH`, `{UPDATE} PATH` or `{END}`");
        return Err(PatchError::at(patch_line, text));
    };
    let place = place(written)?;
    let moved_to = match lines.peek().and_then(|line| line.strip_prefix(MOVE)) {
        Some(written) => {
            let moved_to = path(written.trim(), lines.number())?;
            lines.skip();
            Some(moved_to)
        }
        None => None,
    };
    let hunks = hunks(lines)?;
    if hunks.is_empty() && moved_to.is_none() {
        return Err(PatchError::at(patch_line, "the file has no hunk; begin one with `@@`"));
    }
    Ok(FilePatch { patch_line, place, action: FileAction::Update { moved_to, hunks } })
}

/// Reads the lines of a new file.
fn content(lines: &mut PatchLines<'_>) -> String {
    let mut content = String::new();
    while let Some(text) = lines.peek().and_then(|line| line.strip_prefix('+')) {
        content.push_str(text);
        content.push('\n');
        lines.skip();
    }
    content
}

fn hunks<'p>(lines: &mut PatchLines<'p>) -> Result<Vec<Hunk<'p>>, PatchError> {
    let mut hunks = Vec::new();
    loop {
        lines.skip_blank();
        // The first hunk may begin without its `@@`.
        let is_hunk = |line: &str| line.starts_with("@@") || (hunks.is_empty() && Mark::of(line).is_some());
        if !lines.peek().is_some_and(is_hunk) {
            return Ok(hunks);
        }
        hunks.push(hunk(lines)?);
    }
}

fn hunk<'p>(lines: &mut PatchLines<'p>) -> Result<Hunk<'p>, PatchError> {
    let mut hunk = Hunk::at(lines.number());
    while let Some(header) = lines.peek().and_then(|line| line.strip_prefix("@@")) {
        match unified::range(header) {
            Some(range) => hunk.claimed_line = range.claimed_line(),
            None if header.trim().is_empty() => {}
            None => hunk.headers.push(header.trim()),
        }
        lines.skip();
    }
    // The name of the next file begins with `***`, which is no mark.
    unified::marked_lines(&mut hunk, lines, |_| false)?;
    if lines.peek().is_some_and(|line| line.trim_end() == END_OF_FILE) {
        hunk.is_at_end = true;
        lines.skip();
    }
    match hunk.lines.is_empty() {
        true => Err(PatchError::at(hunk.patch_line, "the hunk has no lines that begin with ` `, `-` or `+`")),
        false => Ok(hunk),
    }
}
