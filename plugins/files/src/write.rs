//! `write`: a file with a given content.

use portcullis_sdk::prelude::*;

use crate::place::Place;
use crate::text;
use crate::workspace::{Workspace, Written};

/// The largest old content that is kept while a file is overwritten, to put it back should that fail.
const OLD_BYTES_MAX: u64 = 8 * 1024 * 1024;

#[arguments]
pub(crate) struct Write {
    /// The file, relative to the workspace.
    path: String,
    /// All that the file shall contain.
    content: String,
}

/// Creates a file, or replaces all of its content. Directories on the way to it are created. To change a part of a
/// file, use `edit`.
#[tool(destructive, idempotent, requires(write), optional(read), title = "Write a file")]
pub(crate) fn write(arguments: Write, context: &Context) -> Result<Success<String>, Failure> {
    let (workspace, place) = target(&arguments, context)?;
    // A call that may not read overwrites all the same, without the old content to fall back on.
    let old = workspace.read(&place, OLD_BYTES_MAX).ok();
    let written = workspace.write(&place, arguments.content.as_bytes(), old.as_deref())?;
    let (shown, bytes) = (place.shown(), arguments.content.len());
    let (verb, created) = match written {
        Written::Created => ("Created", true),
        Written::Replaced => ("Replaced", false),
    };
    let size = text::count(bytes, "byte");
    Ok(Success::new(format!("{verb} `{shown}` ({size})."))
        .title(format!("{verb} {shown}"))
        .metadata(json!({ "path": shown, "bytes": bytes, "created": created })))
}

/// What a write would change.
pub(crate) fn preview(arguments: &Write, context: &Context) -> Result<FileChange, Failure> {
    let (workspace, place) = target(arguments, context)?;
    workspace.change(&place, arguments.content.as_str())
}

/// The file that a write is about.
fn target(arguments: &Write, context: &Context) -> Result<(Workspace, Place), Failure> {
    let workspace = Workspace::of(context)?;
    let place = workspace.locate(&arguments.path)?;
    if place.path().is_empty() {
        return Err(Failure::invalid("the path names the workspace itself; name a file in it"));
    }
    Ok((workspace, place))
}
