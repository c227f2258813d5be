//! `list`: lists a directory.

use portcullis_sdk::prelude::*;

use crate::place::Place;
use crate::text;
use crate::workspace::{Entry, Workspace};

/// Default number of entries to show.
const ENTRIES_DEFAULT: usize = 500;

#[arguments]
pub(crate) struct List {
    /// The directory, relative to the workspace.
    #[serde(default = "workspace_itself")]
    path: String,
    /// How many entries to show.
    #[serde(default = "entries_default")]
    #[schemars(range(min = 1))]
    limit: usize,
}

pub(crate) fn workspace_itself() -> String {
    ".".to_owned()
}

fn entries_default() -> usize {
    ENTRIES_DEFAULT
}

/// Lists a directory: first the directories, marked with `/`, then the files with their sizes in bytes. Hidden and
/// ignored entries are shown too.
#[tool(read_only, idempotent, requires(read), title = "List a directory")]
pub(crate) fn list(arguments: List, context: &Context) -> Result<Success<String>, Failure> {
    let workspace = Workspace::of(context)?;
    let place = workspace.locate(&arguments.path)?;
    let mut entries = workspace.entries(&place)?;
    // The sort is stable, so both groups keep the order of their names.
    entries.sort_by_key(|entry| !entry.kind.is_dir());
    let total = entries.len();
    let left_out = total.saturating_sub(arguments.limit.max(1));
    entries.truncate(total - left_out);

    let mut lines: Vec<String> = entries.iter().map(|entry| line(&workspace, &place, entry)).collect();
    if total == 0 {
        lines.push("(the directory is empty)".to_owned());
    }
    if left_out > 0 {
        let left_out = text::count(left_out, "entry");
        lines.push(format!("({left_out} left out; raise limit, or use `glob` with a pattern)"));
    }
    let shown = place.shown();
    Ok(Success::new(lines.join("\n") + "\n").title(format!("Listed {shown}")).metadata(json!({
        "path": shown,
        "entries": total,
        "left_out": left_out,
    })))
}

fn line(workspace: &Workspace, directory: &Place, entry: &Entry) -> String {
    let name = text::printable(&entry.name);
    if entry.kind.is_dir() {
        return format!("{name}/");
    }
    // No tool can open a name that is not a valid path, so it gets no size and no target.
    let Ok(place) = Place::parse(&format!("{}/{}", directory.shown(), entry.name)) else { return name };
    if entry.kind.is_symlink() {
        let target = workspace.link_target(&place).unwrap_or_else(|| "?".to_owned());
        return format!("{name} -> {target}");
    }
    match workspace.size(&place) {
        Some(size) => format!("{name}\t{size}"),
        None => name,
    }
}
