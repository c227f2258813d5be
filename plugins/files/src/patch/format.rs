//! What both formats of a patch share: its files, its lines and its paths.

use super::error::PatchError;
use super::hunk::Hunk;
use crate::place::Place;

/// One file of a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilePatch<'p> {
    /// The line of the patch that names the file, counted from 1.
    pub(super) patch_line: usize,
    pub(super) place: Place,
    pub(super) action: FileAction<'p>,
}

/// What a patch does to a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileAction<'p> {
    Add { content: String },
    Delete { expected: Option<Hunk<'p>> },
    Update { moved_to: Option<Place>, hunks: Vec<Hunk<'p>> },
}

/// The lines of a patch, without their endings.
pub(super) struct PatchLines<'p> {
    lines: Vec<&'p str>,
    next: usize,
}

impl<'p> PatchLines<'p> {
    pub(super) fn of(patch: &'p str) -> Self {
        let lines = patch.strip_suffix('\n').unwrap_or(patch).split('\n');
        Self { lines: lines.map(|line| line.strip_suffix('\r').unwrap_or(line)).collect(), next: 0 }
    }

    /// Returns the next line.
    pub(super) fn peek(&self) -> Option<&'p str> {
        self.lines.get(self.next).copied()
    }

    /// Returns the lines that follow.
    pub(super) fn rest(&self) -> &[&'p str] {
        self.lines.get(self.next..).unwrap_or_default()
    }

    /// Returns the number of the next line, counted from 1.
    pub(super) fn number(&self) -> usize {
        self.next + 1
    }

    pub(super) fn skip(&mut self) {
        self.next += 1;
    }

    pub(super) fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.skip();
        }
    }
}

/// Parses a path. A patch has to spell a path out, because an approver reads it there.
pub(super) fn path(written: &str, patch_line: usize) -> Result<Place, PatchError> {
    let wrong = |text: String| PatchError::at(patch_line, text);
    if written.starts_with('"') {
        return Err(wrong(format!("the path {written} is quoted; write it without quotes and escapes")));
    }
    if written.split('/').any(|segment| segment == "..") {
        return Err(wrong(format!(
            "`{written}` contains `..`; use a path inside the workspace, such as `src/main.rs`"
        )));
    }
    let place = Place::parse(written).map_err(|failure| wrong(failure.text().to_owned()))?;
    match place.path().is_empty() {
        true => Err(wrong("the path names the workspace itself; name a file in it".to_owned())),
        false => Ok(place),
    }
}
