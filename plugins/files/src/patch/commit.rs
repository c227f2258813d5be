//! Makes all changes of a patch, or none.
//!
//! Everything that needs space or a permission happens first, in temporary files next to the files. Then files are
//! renamed, and last are contents replaced. Contents are replaced in place, as in `edit`, because a rename would drop
//! the executable bit of a file. Its old content is in a temporary file meanwhile. A failure undoes all steps.

use std::io;

use super::plan::{Change, Effect, NewText};
use crate::place::Place;
use crate::workspace::Disk;

/// A patch that could not be written.
#[derive(Debug)]
pub(super) struct CommitError {
    pub(super) place: Place,
    pub(super) error: io::Error,
    /// What could not be undone, as sentences. Empty if all files are as before.
    pub(super) remains: Vec<String>,
}

/// Makes all changes. Returns the temporary files that could not be removed afterwards.
pub(super) fn commit(disk: &impl Disk, changes: &[Change]) -> Result<Vec<Place>, CommitError> {
    let mut transaction = Transaction { disk, undo: Vec::new() };
    match transaction.run(changes) {
        Ok(temporary) => Ok(temporary.into_iter().filter(|place| disk.remove(place).is_err()).collect()),
        Err((place, error)) => Err(CommitError { place, error, remains: transaction.undo() }),
    }
}

/// A step that was made, with what undoes it.
#[derive(Debug)]
enum Step<'c> {
    Directory(Place),
    Temporary(Place),
    Added(&'c Place),
    Renamed { from: Place, to: Place },
    Overwritten { place: &'c Place, old: &'c str, backup: Place },
}

struct Transaction<'c, D> {
    disk: &'c D,
    undo: Vec<Step<'c>>,
}

type Failed = (Place, io::Error);

impl<'c, D: Disk> Transaction<'c, D> {
    /// Makes all changes. Returns the temporary files that are left.
    fn run(&mut self, changes: &'c [Change]) -> Result<Vec<Place>, Failed> {
        let mut staged = Vec::with_capacity(changes.len());
        for change in changes {
            let temporary = self.prepare(change).map_err(|error| (change.place.clone(), error))?;
            staged.push((change, temporary));
        }
        for (change, temporary) in &staged {
            self.rename(change, temporary.as_ref()).map_err(|error| (change.place.clone(), error))?;
        }
        for (change, backup) in &staged {
            let Some((place, NewText { old, new, .. })) = overwritten(change) else { continue };
            // Undo a write that fails too: it may have changed a part of the file.
            let backup = backup.clone().unwrap_or_else(|| place.clone());
            self.undo.push(Step::Overwritten { place, old, backup });
            self.disk.overwrite(place, new.as_bytes()).map_err(|error| (place.clone(), error))?;
        }
        let left = |(change, temporary): (&Change, Option<Place>)| match change.effect {
            Effect::Add { .. } => None,
            Effect::Delete | Effect::Update(_) | Effect::Rename { .. } => temporary,
        };
        Ok(staged.into_iter().filter_map(left).collect())
    }

    /// Does what needs space or a permission. Returns the temporary file of the change: the content of a new file,
    /// the old content of an updated one, or the place that a deleted one is moved to.
    fn prepare(&mut self, change: &'c Change) -> io::Result<Option<Place>> {
        let place = &change.place;
        let content = match &change.effect {
            Effect::Add { content } => {
                self.create_parents(place)?;
                content.as_str()
            }
            Effect::Delete => "",
            Effect::Update(text) => self.old_content(place, text)?,
            Effect::Rename { to, text } => {
                self.create_parents(to)?;
                match text {
                    Some(text) => self.old_content(place, text)?,
                    None => return Ok(None),
                }
            }
        };
        let temporary = self.disk.stage(place, content.as_bytes())?;
        self.undo.push(Step::Temporary(temporary.clone()));
        Ok(Some(temporary))
    }

    fn old_content(&self, place: &Place, text: &'c NewText) -> io::Result<&'c str> {
        self.disk.check_writable(place).map(|()| text.old.as_str())
    }

    fn create_parents(&mut self, place: &Place) -> io::Result<()> {
        let Some(parent) = place.parent() else { return Ok(()) };
        for directory in parent.way() {
            if self.disk.create_directory(&directory)? {
                self.undo.push(Step::Directory(directory));
            }
        }
        Ok(())
    }

    fn rename(&mut self, change: &'c Change, temporary: Option<&Place>) -> io::Result<()> {
        let place = &change.place;
        match (&change.effect, temporary) {
            (Effect::Add { .. }, Some(temporary)) => {
                self.disk.rename(temporary, place)?;
                self.undo.push(Step::Added(place));
            }
            (Effect::Delete, Some(temporary)) => {
                self.disk.rename_over(place, temporary)?;
                self.undo.push(Step::Renamed { from: place.clone(), to: temporary.clone() });
            }
            (Effect::Rename { to, .. }, _) => {
                self.disk.rename(place, to)?;
                self.undo.push(Step::Renamed { from: place.clone(), to: to.clone() });
            }
            (Effect::Update(_), _) | (Effect::Add { .. } | Effect::Delete, None) => {}
        }
        Ok(())
    }

    /// Undoes all steps, the last one first. Returns what could not be undone.
    fn undo(&mut self) -> Vec<String> {
        let mut remains = Vec::new();
        // Files that hold the only copy of a content, or that are not as before.
        let mut kept: Vec<Place> = Vec::new();
        for step in self.undo.drain(..).rev() {
            match step {
                Step::Overwritten { place, old, backup } => {
                    if self.disk.overwrite(place, old.as_bytes()).is_err() {
                        let (place_shown, backup_shown) = (place.shown(), backup.shown());
                        remains.push(format!("`{place_shown}` is damaged; its old content is in `{backup_shown}`"));
                        kept.extend([place.clone(), backup]);
                    }
                }
                Step::Renamed { from, to } => {
                    if kept.contains(&to) || self.disk.rename(&to, &from).is_err() {
                        remains.push(format!("`{}` is now `{}`", from.shown(), to.shown()));
                        kept.push(to);
                    }
                }
                Step::Added(place) => {
                    if self.disk.remove(place).is_err() {
                        remains.push(format!("`{}` was created and is still there", place.shown()));
                    }
                }
                Step::Temporary(place) if kept.contains(&place) => {}
                Step::Temporary(place) => match self.disk.remove(&place) {
                    // A temporary file that was renamed is not there any more.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        remains.push(format!("the temporary file `{}` is still there", place.shown()));
                    }
                    Ok(()) | Err(_) => {}
                },
                Step::Directory(place) => {
                    if self.disk.remove_directory(&place).is_err() {
                        remains.push(format!("the new directory `{}` is still there", place.shown()));
                    }
                }
            }
        }
        remains
    }
}

/// Returns the place of a file whose content is replaced, once files are renamed, and its text.
fn overwritten(change: &Change) -> Option<(&Place, &NewText)> {
    match &change.effect {
        Effect::Update(text) => Some((&change.place, text)),
        Effect::Rename { to, text: Some(text) } => Some((to, text)),
        Effect::Add { .. } | Effect::Delete | Effect::Rename { text: None, .. } => None,
    }
}

#[cfg(test)]
mod tests;
