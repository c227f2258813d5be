//! `patch`: changes several files in one step, all of them or none.
//!
//! In the order of a call: `format` reads the patch (`envelope`, `unified`, `hunk`, `error`), `plan` compares it with
//! the files (`lines`, `locate`, `misfits`), and `commit` writes.

mod commit;
mod envelope;
mod error;
mod format;
mod hunk;
mod lines;
mod locate;
mod misfits;
mod parse;
mod plan;
mod unified;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use self::commit::CommitError;
use self::plan::{Change, Effect, NewText};
use crate::text;
use crate::workspace::Workspace;

/// Maximum size of a patch: the size of the arguments that a host accepts.
const PATCH_BYTES_MAX: usize = 1024 * 1024;

/// Maximum size of a renamed file that a preview shows: the host shows no larger text.
const PREVIEWED_BYTES_MAX: u64 = 1024 * 1024;

/// Maximum places of hunks that an answer lists for one file.
const PLACES_TOLD: usize = 20;

#[arguments]
pub(crate) struct Patch {
    /// A unified diff, or `*** Begin Patch`, then for each file `*** Add File: PATH`, `*** Delete File: PATH` or
    /// `*** Update File: PATH` (after that, `*** Move to: PATH` renames), then hunks, then `*** End Patch`. A hunk is
    /// `@@` and lines that begin with a space, `-` or `+`.
    #[schemars(length(min = 1, max = 1_048_576))]
    patch: String,
}

/// Adds, edits, renames and deletes several files in one step, all or none. Copy unchanged lines exactly from the file,
/// about three before and after each change, until each hunk is unique. Paths are relative to the workspace.
#[tool(destructive, requires(read, write), title = "Patch files")]
pub(crate) fn patch(arguments: Patch, context: &Context) -> Result<Success<String>, Failure> {
    let workspace = Workspace::of(context)?;
    let changes = changes(&arguments, &workspace, context)?;
    // This is the last look for a cancellation: from here on, either all files change or none does.
    context.check_cancelled()?;
    let leftovers = commit::commit(&workspace, &changes).map_err(|error| refuse(&workspace, &error))?;
    let mut lines: Vec<String> = changes.iter().map(line).collect();
    lines.extend(leftovers.iter().map(|place| format!("Remove the temporary file `{}`.", place.shown())));
    let files = text::count(changes.len(), "file");
    let described: Vec<Value> = changes.iter().map(described).collect();
    Ok(Success::new(lines.join("\n") + "\n").title(format!("Patched {files}")).metadata(json!({ "files": described })))
}

/// Returns what a patch would change.
pub(crate) fn preview(arguments: &Patch, context: &Context) -> Result<Vec<FileChange>, Failure> {
    let workspace = Workspace::of(context)?;
    let mut previewed = Vec::new();
    for Change { place, effect } in changes(arguments, &workspace, context)? {
        match effect {
            Effect::Add { content } => previewed.push(workspace.change(&place, content)?),
            Effect::Delete => previewed.push(Workspace::removal(&place)),
            Effect::Update(text) => previewed.push(workspace.change(&place, text.new)?),
            Effect::Rename { to, text } => {
                let content = match text {
                    Some(text) => text.new,
                    None => text::of_file(&place, workspace.read(&place, PREVIEWED_BYTES_MAX)?)?,
                };
                previewed.push(Workspace::removal(&place));
                previewed.push(workspace.change(&to, content)?);
            }
        }
    }
    Ok(previewed)
}

fn changes(arguments: &Patch, workspace: &Workspace, context: &Context) -> Result<Vec<Change>, Failure> {
    if arguments.patch.len() > PATCH_BYTES_MAX {
        return Err(Failure::invalid(format!("the patch is larger than {PATCH_BYTES_MAX} bytes; split it")));
    }
    let files = parse::parse(&arguments.patch).map_err(|error| error.failure())?;
    plan::plan(&files, workspace, context)
}

/// Returns the failure of a patch that could not be written.
fn refuse(workspace: &Workspace, error: &CommitError) -> Failure {
    let why = workspace.explain(&error.place, &error.error);
    let text = match error.remains.as_slice() {
        [] => format!("nothing was changed: {}", why.text()),
        remains => format!(
            "the patch failed, and not all of it was undone: {}\nAll other files are as before, but:\n- {}",
            why.text(),
            remains.join("\n- ")
        ),
    };
    plan::replaced_text(&why, text)
}

/// Returns the line of an answer about one file.
fn line(change: &Change) -> String {
    let shown = change.place.shown();
    match &change.effect {
        Effect::Add { content } => format!("Added `{shown}` ({}).", text::count(content.lines().count(), "line")),
        Effect::Delete => format!("Deleted `{shown}`."),
        Effect::Update(text) => format!("Updated `{shown}`{}.", edited(text)),
        Effect::Rename { to, text } => {
            let edited = text.as_ref().map(edited).unwrap_or_default();
            format!("Renamed `{shown}` to `{}`{edited}.", to.shown())
        }
    }
}

/// Describes how many lines of a file were changed, and where.
fn edited(text: &NewText) -> String {
    let places: Vec<String> = text.hunk_lines.iter().take(PLACES_TOLD).map(usize::to_string).collect();
    let noun = if places.len() == 1 { "line" } else { "lines" };
    let more = if text.hunk_lines.len() > PLACES_TOLD { ", ..." } else { "" };
    format!(" (+{} -{}, at {noun} {}{more})", text.lines_added, text.lines_removed, places.join(", "))
}

/// Returns the metadata about one file.
fn described(change: &Change) -> Value {
    let shown = change.place.shown();
    let described = |change: &str, path: &str, text: Option<&NewText>| {
        let mut described = json!({ "path": path, "change": change });
        if let Some(text) = text {
            described["bytes"] = json!(text.new.len());
            described["lines_added"] = json!(text.lines_added);
            described["lines_removed"] = json!(text.lines_removed);
        }
        described
    };
    match &change.effect {
        Effect::Add { content } => json!({
            "path": shown,
            "change": "added",
            "bytes": content.len(),
            "lines_added": content.lines().count(),
        }),
        Effect::Delete => described("deleted", shown, None),
        Effect::Update(text) => described("updated", shown, Some(text)),
        Effect::Rename { to, text } => {
            let mut described = described("renamed", to.shown(), text.as_ref());
            described["renamed_from"] = json!(shown);
            described
        }
    }
}
