//! `delete`: takes a note away.

use portcullis_sdk::prelude::*;

use crate::notebook::Notebook;

#[arguments]
pub(crate) struct Delete {
    /// The name of the note.
    #[schemars(length(min = 1, max = 128))]
    key: String,
}

/// Takes the note under a key away, for good. A key that is not there is answered with the nearest ones.
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
