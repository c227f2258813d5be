//! Reads a patch: chooses its format, and has what both formats share.

use super::envelope;
use super::error::PatchError;
use super::hunk::Hunk;
use super::unified;
use crate::place::Place;

/// The first line of a patch that is not a unified difference.
pub(super) const BEGIN: &str = "*** Begin Patch";

/// Maximum hunks of a patch. Each is searched for in its file, and a model that writes more should write the file.
pub(super) const HUNKS_MAX: usize = 1_000;

/// Maximum changed files of a patch, where a rename counts twice. The host shows an approver as many.
pub(super) const FILES_MAX: usize = 32;

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
    fn of(patch: &'p str) -> Self {
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

/// Reads a patch.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch<'_>>, PatchError> {
    let mut lines = PatchLines::of(patch);
    lines.skip_blank();
    let files = match lines.peek() {
        Some(line) if line.trim_end() == BEGIN => envelope::parse(&mut lines)?,
        Some(_) | None => unified::parse(&mut lines)?,
    };
    check(&files)?;
    Ok(files)
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

/// Checks the limits, and that no two files of the patch are in each other's way.
fn check(files: &[FilePatch<'_>]) -> Result<(), PatchError> {
    let mut named: Vec<(&Place, usize)> = Vec::new();
    let mut hunks = 0;
    for file in files {
        named.push((&file.place, file.patch_line));
        if let FileAction::Update { moved_to, hunks: some } = &file.action {
            named.extend(moved_to.as_ref().map(|place| (place, file.patch_line)));
            hunks += some.len();
        }
        if named.len() > FILES_MAX {
            let text = format!("more than {FILES_MAX} changed files, where a rename counts twice; split the patch");
            return Err(PatchError::at(file.patch_line, text));
        }
        if hunks > HUNKS_MAX {
            return Err(PatchError::at(file.patch_line, format!("more than {HUNKS_MAX} hunks; split the patch")));
        }
    }
    for (index, (place, line)) in named.iter().enumerate() {
        for (other, first_line) in &named[..index] {
            let (shown, shown_other) = (place.shown(), other.shown());
            if place == other {
                let text = format!(
                    "`{shown}` is named on line {first_line} already; write all changes of a file into one section"
                );
                return Err(PatchError::at(*line, text));
            }
            if is_below(place, other) || is_below(other, place) {
                let text = format!("`{shown}` and `{shown_other}` of line {first_line} cannot both be files");
                return Err(PatchError::at(*line, text));
            }
        }
    }
    Ok(())
}

fn is_below(place: &Place, directory: &Place) -> bool {
    place.path().strip_prefix(directory.path()).is_some_and(|rest| rest.starts_with('/'))
}
