//! Files of a granted directory, through the standard library alone.
#![expect(clippy::disallowed_methods, reason = "std::fs reaches the granted directory alone")]

use std::fs;
use std::io;
use std::path::Path;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

/// Where the host shows the directory.
const WORKSPACE: &str = "/workspace";

/// Which file, or which directory.
#[arguments]
pub(crate) struct Place {
    /// The path below the workspace.
    path: String,
}

/// What to write, and where.
#[arguments]
pub(crate) struct Write {
    /// The path below the workspace.
    path: String,
    /// The whole content.
    text: String,
}

/// Reads a text file.
#[tool(read_only, idempotent, requires(read))]
pub(crate) fn read(arguments: Place) -> Result<String, Failure> {
    fs::read_to_string(full(&arguments.path)).map_err(cannot("read", &arguments.path))
}

/// Writes a text file, and the directories above it.
#[tool(destructive, idempotent, requires(read, write))]
pub(crate) fn write(arguments: Write) -> Result<String, Failure> {
    let Write { path, text } = arguments;
    write_with_parents(&full(&path), &text).map_err(cannot("write", &path))?;
    Ok(format!("wrote {} bytes", text.len()))
}

fn write_with_parents(path: &str, text: &str) -> io::Result<()> {
    if let Some(parent) = Path::new(path).parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)
}

/// Lists a directory.
#[tool(read_only, idempotent, requires(read))]
pub(crate) fn list(arguments: Place) -> Result<Value, Failure> {
    let mut entries = entries(&full(&arguments.path)).map_err(cannot("list", &arguments.path))?;
    entries.sort();
    let entries: Vec<Value> = entries
        .into_iter()
        .map(|(name, size)| match size {
            Some(size) => json!({ "name": name, "kind": "file", "size": size }),
            None => json!({ "name": name, "kind": "directory", "size": 0 }),
        })
        .collect();
    Ok(json!({ "entries": entries }))
}

/// The name of each entry, and the size of a file.
fn entries(directory: &str) -> io::Result<Vec<(String, Option<u64>)>> {
    fs::read_dir(directory)?
        .map(|entry| {
            let entry = entry?;
            let metadata = entry.metadata()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok((name, (!metadata.is_dir()).then_some(metadata.len())))
        })
        .collect()
}

/// Removes a file.
#[tool(destructive, requires(read, write))]
pub(crate) fn remove(arguments: Place) -> Result<&'static str, Failure> {
    fs::remove_file(full(&arguments.path)).map_err(cannot("remove", &arguments.path))?;
    Ok("removed")
}

fn full(path: &str) -> String {
    format!("{WORKSPACE}/{path}")
}

fn cannot(what: &str, path: &str) -> impl FnOnce(io::Error) -> Failure {
    move |error| Failure::failed(format!("cannot {what} {path}: {error}"))
}
