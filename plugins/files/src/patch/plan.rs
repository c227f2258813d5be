//! Compares a patch with the current files, and computes what it would change. Changes nothing.

use portcullis_sdk::prelude::*;

use super::format::{FileAction, FilePatch};
use super::hunk::{Hunk, Mark};
use super::lines::FileLines;
use super::locate::locate;
use super::misfits::Misfits;
use crate::place::Place;
use crate::text;
use crate::workspace::Workspace;

/// Maximum size of a file to update. The same as of `edit`.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum size of all files to update. Old and new texts are in memory at once, and a call has 64 MiB by default.
const TEXTS_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A change of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) place: Place,
    pub(super) effect: Effect,
}

/// What happens to a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Add { content: String },
    Delete,
    Update(NewText),
    Rename { to: Place, text: Option<NewText> },
}

/// The text of a file before and after the patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NewText {
    pub(super) old: String,
    pub(super) new: String,
    /// The lines of the old text at which the hunks begin, counted from 1.
    pub(super) hunk_lines: Vec<usize>,
    pub(super) lines_added: usize,
    pub(super) lines_removed: usize,
}

/// Computes all changes of a patch. Fails if one of them cannot be made.
pub(super) fn plan(files: &[FilePatch<'_>], workspace: &Workspace, context: &Context) -> Result<Vec<Change>, Failure> {
    let mut planner = Planner { workspace, bytes: 0, misfits: Misfits::default() };
    let mut changes = Vec::with_capacity(files.len());
    for file in files {
        context.check_cancelled()?;
        let effect = planner.effect(file).map_err(|failure| at_line(file.patch_line, &failure))?;
        changes.extend(effect.map(|effect| Change { place: file.place.clone(), effect }));
    }
    match planner.misfits.failure() {
        Some(failure) => Err(failure),
        None => Ok(changes),
    }
}

struct Planner<'w> {
    workspace: &'w Workspace,
    /// The size of the files read.
    bytes: usize,
    misfits: Misfits,
}

impl Planner<'_> {
    /// Returns what happens to a file. Returns `None` if a hunk has no place.
    fn effect(&mut self, file: &FilePatch<'_>) -> Result<Option<Effect>, Failure> {
        // The patch names a place in its one spelling; this refuses one that leads through a link.
        self.workspace.locate(file.place.path())?;
        match &file.action {
            FileAction::Add { content } => {
                self.check_missing(&file.place)?;
                Ok(Some(Effect::Add { content: content.clone() }))
            }
            FileAction::Delete { expected } => {
                // Open it only to fail now and not while files change.
                self.workspace.open(&file.place)?;
                if let Some(expected) = expected {
                    self.check_content(&file.place, expected)?;
                }
                Ok(Some(Effect::Delete))
            }
            FileAction::Update { moved_to: None, hunks } => Ok(self.new_text(&file.place, hunks)?.map(Effect::Update)),
            FileAction::Update { moved_to: Some(to), hunks } => {
                self.workspace.locate(to.path())?;
                self.check_missing(to)?;
                self.workspace.open(&file.place)?;
                let to = to.clone();
                if hunks.is_empty() {
                    return Ok(Some(Effect::Rename { to, text: None }));
                }
                let text = self.new_text(&file.place, hunks)?;
                Ok(text.map(|text| Effect::Rename { to, text: Some(text) }))
            }
        }
    }

    fn check_missing(&self, place: &Place) -> Result<(), Failure> {
        let shown = place.shown();
        match self.workspace.check_file(place)? {
            true => Err(Failure::failed(format!("`{shown}` exists already; update it, or delete it in a call before"))),
            false => Ok(()),
        }
    }

    /// Checks that a patch that shows the content of a deleted file shows all of it.
    fn check_content(&mut self, place: &Place, expected: &Hunk<'_>) -> Result<(), Failure> {
        let old = self.read(place)?;
        let file = FileLines::of(&old);
        let is_same = file.texts() == expected.old_lines() && (!expected.old_is_unterminated || file.is_unterminated());
        match is_same {
            true => Ok(()),
            false => Err(Failure::failed(format!(
                "`{}` has other content than the patch deletes; `read` it again, or use `*** Delete File:`",
                place.shown()
            ))),
        }
    }

    /// Returns the text after the hunks. Returns `None` if one of them has no place.
    fn new_text(&mut self, place: &Place, hunks: &[Hunk<'_>]) -> Result<Option<NewText>, Failure> {
        let old = self.read(place)?;
        let file = FileLines::of(&old);
        let lines = file.texts();
        let mut located: Vec<(usize, &Hunk<'_>)> = Vec::with_capacity(hunks.len());
        let mut from = 0;
        for (index, hunk) in hunks.iter().enumerate() {
            match locate(&lines, file.is_unterminated(), from, hunk) {
                Ok(start) => {
                    located.push((start, hunk));
                    from = start + hunk.old_lines().len();
                }
                // Go on with the next hunk, so that one failure describes all that do not fit.
                Err(misfit) => self.misfits.add(place, index + 1, hunk, &misfit, &old),
            }
        }
        if located.len() < hunks.len() {
            return Ok(None);
        }
        let new = file.patched(&located);
        if new == old {
            return Err(Failure::invalid(format!("the hunks of `{}` change nothing", place.shown())));
        }
        let count = |mark| hunks.iter().map(|hunk| hunk.count(mark)).sum();
        let (lines_added, lines_removed) = (count(Mark::Added), count(Mark::Removed));
        let hunk_lines = located.iter().map(|(start, _)| start + 1).collect();
        Ok(Some(NewText { old, new, hunk_lines, lines_added, lines_removed }))
    }

    fn read(&mut self, place: &Place) -> Result<String, Failure> {
        let bytes = self.workspace.read(place, FILE_BYTES_MAX)?;
        self.bytes += bytes.len();
        if self.bytes > TEXTS_BYTES_MAX {
            let text = format!("the files to change have more than {TEXTS_BYTES_MAX} bytes in all; split the patch");
            return Err(Failure::failed(text));
        }
        text::of_file(place, bytes)
    }
}

/// Adds the line of the patch to a failure.
fn at_line(patch_line: usize, failure: &Failure) -> Failure {
    let text = format!("nothing was changed: line {patch_line} of the patch: {}", failure.text());
    replaced_text(failure, text)
}

/// Returns a failure of the same kind with another text.
pub(super) fn replaced_text(failure: &Failure, text: String) -> Failure {
    match failure {
        Failure::InvalidArguments(_) => Failure::InvalidArguments(text),
        Failure::Denied(_) => Failure::Denied(text),
        Failure::Unavailable(_) => Failure::Unavailable(text),
        Failure::Cancelled => Failure::Cancelled,
        Failure::Failed(_) => Failure::Failed(text),
    }
}
