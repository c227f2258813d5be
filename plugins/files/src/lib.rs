//! The files plugin: read, write, edit, patch, list, glob and grep within one directory.
//!
//! One file per tool. Below them, in the order in which a path is processed: `place` (parses a path), `workspace` (file
//! access), `neighbours` (suggestions for missing paths), `walk` (recursive walk), `coverage` (what was not searched),
//! `text` (lines and bytes), `endings` (line endings), `sequence` (finds lines), `nearest` (the most similar lines),
//! `likeness` (similarity of texts).

mod edit;
mod glob;
mod grep;
mod list;
mod patch;
mod read;
mod write;

mod coverage;
mod endings;
mod likeness;
mod nearest;
mod neighbours;
mod place;
mod sequence;
mod text;
mod walk;
mod workspace;

use portcullis_sdk::prelude::*;

plugin! {
    name: "files",
    description: "Reads, writes, edits, lists and searches the files of one directory.",
    tools: [read::read, write::write, edit::edit, patch::patch, list::list, glob::glob, grep::grep],
    dependencies: [directory "workspace": "the files to work on"],
    previewer: preview,
}

/// Computes what a call would change, with the same functions that make the change.
fn preview(call: &Preview) -> Result<Vec<FileChange>, Failure> {
    let change = match call.tool() {
        "write" => write::preview(&call.parse()?, call.context())?,
        "edit" => edit::preview(&call.parse()?, call.context())?,
        "patch" => return patch::preview(&call.parse()?, call.context()),
        _ => return Ok(Vec::new()),
    };
    Ok(vec![change])
}
