//! `set`: keeps a note.

use portcullis_sdk::prelude::*;

use crate::notebook::Notebook;

#[arguments]
pub(crate) struct Set {
    /// The name of the note: one line, such as `build command` or `user/language`.
    #[schemars(length(min = 1, max = 128))]
    key: String,
    /// The note itself. It replaces an existing note.
    value: String,
}

/// Saves a note under a key, so that later calls can read it. A note that exists is replaced: to add to it, get it
/// first. Save what is worth knowing next time, in a few lines.
#[tool(destructive, idempotent, requires(write), title = "Keep a note")]
pub(crate) fn set(arguments: Set, context: &Context) -> Result<Success<String>, Failure> {
    let Set { key, value } = arguments;
    let replaced = Notebook::of(context)?.set(&key, &value)?;
    let did = if replaced { "Replaced" } else { "Kept" };
    let bytes = value.len();
    Ok(Success::new(format!("{did} `{key}` ({bytes} bytes).")).title(format!("{did} {key}")).metadata(json!({
        "key": key,
        "bytes": bytes,
        "replaced": replaced,
    })))
}
