//! `delete`: deletes a note.

use portcullis_sdk::prelude::*;

use crate::notebook::Notebook;

#[arguments]
pub(crate) struct Delete {
    /// The name of the note.
    #[schemars(length(min = 1, max = 128))]
    key: String,
}

/// Deletes the note under a key, permanently. If the key does not exist, the error suggests similar keys.
#[tool(destructive, idempotent, requires(write), title = "Delete a note")]
pub(crate) fn delete(arguments: Delete, context: &Context) -> Result<Success<String>, Failure> {
    let key = arguments.key;
    let notebook = Notebook::of(context)?;
    if !notebook.delete(&key)? {
        return Err(notebook.missing(&key));
    }
    let text = format!("Deleted `{key}`.");
    Ok(Success::new(text).title(format!("Deleted {key}")).metadata(json!({ "key": key })))
}
