//! Reads a patch: chooses its format, and checks its limits.

use super::envelope;
use super::error::PatchError;
use super::format::{FileAction, FilePatch, PatchLines};
use super::unified;
use crate::place::Place;

/// The first line of a patch that is not a unified difference.
const BEGIN: &str = "*** Begin Patch";

/// Maximum hunks of a patch. Each is searched for in its file, and a model that writes more should write the file.
const HUNKS_MAX: usize = 1_000;

/// Maximum changed files of a patch, where a rename counts twice. The host shows an approver as many.
const FILES_MAX: usize = 32;

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
    // The number of files is limited above, so all pairs can be compared.
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
