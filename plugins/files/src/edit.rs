//! `edit`: exact replacements in one file, all of them or none.

mod difference;
mod replace;

use portcullis_sdk::prelude::*;

use self::difference::Difference;
use self::replace::Replacement;
use crate::endings::{self, Endings};
use crate::place::Place;
use crate::text;
use crate::workspace::Workspace;

/// Maximum size of a file to edit. Old text, new text and their difference are in memory at once.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum replacements per call.
const EDITS_MAX: usize = 1_000;

#[arguments]
pub(crate) struct Edit {
    /// The file, relative to the workspace.
    path: String,
    /// The replacements, made in order. If one cannot be made, none is made.
    #[schemars(length(min = 1, max = 1000))]
    edits: Vec<Replacement>,
}

/// Replaces exact text in a file, and answers with the difference. Line endings are kept: write `\n` for every line
/// ending, even in a file that has `\r\n`.
#[tool(destructive, requires(read, write), title = "Edit a file")]
pub(crate) fn edit(arguments: Edit, context: &Context) -> Result<Success<String>, Failure> {
    let workspace = Workspace::of(context)?;
    let edited = Edited::of(&arguments, &workspace, context)?;
    workspace.write(&edited.place, edited.new.as_bytes(), Some(edited.old.as_bytes()))?;
    Ok(answer(&edited))
}

/// Returns what an edit would change.
pub(crate) fn preview(arguments: &Edit, context: &Context) -> Result<FileChange, Failure> {
    let workspace = Workspace::of(context)?;
    let edited = Edited::of(arguments, &workspace, context)?;
    workspace.change(&edited.place, edited.new)
}

/// A file with all replacements made, not yet written.
struct Edited {
    place: Place,
    old: String,
    new: String,
    /// The number of replacements made.
    replaced: usize,
}

impl Edited {
    fn of(arguments: &Edit, workspace: &Workspace, context: &Context) -> Result<Self, Failure> {
        let place = workspace.locate(&arguments.path)?;
        check(&arguments.edits)?;
        let old = text::of_file(&place, workspace.read(&place, FILE_BYTES_MAX)?)?;
        let endings = Endings::of(&old);

        let (mut new, mut replaced) = (old.clone(), 0);
        for (index, edit) in arguments.edits.iter().enumerate() {
            context.check_cancelled()?;
            let (text, count) =
                replace::apply(&new, edit, endings).map_err(|text| refuse(&place, arguments, index, &text))?;
            (new, replaced) = (text, replaced + count);
        }
        if new == old {
            return Err(Failure::invalid("the edits cancel each other out: nothing would change"));
        }
        Ok(Self { place, old, new, replaced })
    }
}

fn check(edits: &[Replacement]) -> Result<(), Failure> {
    if edits.is_empty() || edits.len() > EDITS_MAX {
        return Err(Failure::invalid(format!("edits has {} entries; pass 1 to {EDITS_MAX}", edits.len())));
    }
    for (index, edit) in edits.iter().enumerate() {
        if edit.old.is_empty() {
            let text = format!("`edits[{index}].old` is empty; to fill or create a file, use `write`");
            return Err(Failure::invalid(text));
        }
        if edit.old == edit.new {
            return Err(Failure::invalid(format!("`edits[{index}]`: old and new are the same")));
        }
    }
    Ok(())
}

fn refuse(place: &Place, arguments: &Edit, index: usize, text: &str) -> Failure {
    let shown = place.shown();
    match arguments.edits.len() {
        1 => Failure::failed(format!("`{shown}` is unchanged: {text}")),
        _ => Failure::failed(format!("`{shown}` is unchanged: edits[{index}]: {text}")),
    }
}

fn answer(edited: &Edited) -> Success<String> {
    let Edited { place, old, new, replaced } = edited;
    let shown = place.shown();
    // Normalize the line endings, so that the difference shows changes of the text only.
    let difference = Difference::of(shown, &endings::to_lf(old), &endings::to_lf(new));
    Success::new(difference.text).title(format!("Edited {shown}")).metadata(json!({
        "path": shown,
        "replacements": replaced,
        "lines_added": difference.lines_added,
        "lines_removed": difference.lines_removed,
        "bytes": new.len(),
    }))
}
