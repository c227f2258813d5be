//! `write`: creates or replaces a file.

use portcullis_sdk::prelude::*;

use crate::place::Place;
use crate::text;
use crate::workspace::{Workspace, Written};

/// Maximum size of old content to keep while a file is overwritten, to restore it on failure.
const OLD_BYTES_MAX: u64 = 8 * 1024 * 1024;

#[arguments]
pub(crate) struct Write {
    /// The file, relative to the workspace.
    path: String,
    /// The whole content of the file.
    content: String,
}

/// Creates a file, or replaces all of its content. Missing parent directories are created. To change a part of a
/// file, use `edit`.
#[tool(destructive, idempotent, requires(write), optional(read), title = "Write a file")]
pub(crate) fn write(arguments: Write, context: &Context) -> Result<Success<String>, Failure> {
    let (workspace, place) = target(&arguments, context)?;
    // A call without the read permission overwrites too, but cannot restore the old content on failure.
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

/// Returns what a write would change.
pub(crate) fn preview(arguments: &Write, context: &Context) -> Result<FileChange, Failure> {
    let (workspace, place) = target(arguments, context)?;
    workspace.change(&place, arguments.content.as_str())
}

/// Returns the workspace, and the file to write.
fn target(arguments: &Write, context: &Context) -> Result<(Workspace, Place), Failure> {
    let workspace = Workspace::of(context)?;
    let place = workspace.locate(&arguments.path)?;
    if place.path().is_empty() {
        return Err(Failure::invalid("the path names the workspace itself; name a file in it"));
    }
    Ok((workspace, place))
}
