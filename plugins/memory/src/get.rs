//! `get`: shows a note.

use portcullis_sdk::prelude::*;

use crate::notebook::Notebook;

#[arguments]
pub(crate) struct Get {
    /// The name of the note.
    #[schemars(length(min = 1, max = 128))]
    key: String,
}

/// Returns the note under a key, unchanged. If the key does not exist, the error suggests similar keys.
#[tool(read_only, idempotent, requires(read), title = "Get a note")]
pub(crate) fn get(arguments: Get, context: &Context) -> Result<Success<String>, Failure> {
    let key = arguments.key;
    let notebook = Notebook::of(context)?;
    let value = notebook.get(&key)?.ok_or_else(|| notebook.missing(&key))?;
    let bytes = value.len();
    Ok(Success::new(value).title(format!("Got {key}")).metadata(json!({ "key": key, "bytes": bytes })))
}
