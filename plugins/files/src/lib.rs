//! The files plugin: read, write, edit, list, glob and grep within one directory.
//!
//! One file per tool; below them, in the order in which a path travels: `place` (what was written), `workspace` (what
//! is there), `neighbours` (what may have been meant), `walk` (everything beneath), `coverage` (what of
//! that was not searched), `text` (lines and bytes), `likeness`.

mod edit;
mod glob;
mod grep;
mod list;
mod read;
mod write;

mod coverage;
mod likeness;
mod neighbours;
mod place;
mod text;
mod walk;
mod workspace;

use portcullis_sdk::prelude::*;

plugin! {
    name: "files",
    description: "Reads, writes, edits, lists and searches the files of one directory.",
    tools: [read::read, write::write, edit::edit, list::list, glob::glob, grep::grep],
    dependencies: [directory "workspace": "the files to work on"],
    previewer: preview,
}

/// What a call would change, from the same functions that change it.
fn preview(call: &Preview) -> Result<Vec<FileChange>, Failure> {
    let change = match call.tool() {
        "write" => write::preview(&call.parse()?, call.context())?,
        "edit" => edit::preview(&call.parse()?, call.context())?,
        _ => return Ok(Vec::new()),
    };
    Ok(vec![change])
}
