//! The cursors of lists: where the page before ended, in a form that says to leave it alone.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;

/// The longest cursor that is looked at, in bytes: more than any that is given out.
const CURSOR_BYTES_MAX: usize = 1024;

/// A cursor to what follows `last`.
pub(crate) fn seal(last: &str) -> String {
    URL_SAFE_NO_PAD.encode(last)
}

/// What a cursor follows.
///
/// # Errors
/// It is no cursor.
pub(crate) fn open(cursor: &str) -> Result<String, ErrorData> {
    if cursor.len() > CURSOR_BYTES_MAX {
        return Err(unknown());
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| unknown())?;
    String::from_utf8(bytes).map_err(|_| unknown())
}

/// The answer to a cursor that is none.
pub(crate) fn unknown() -> ErrorData {
    ErrorData::invalid_params("the cursor is none that this server gave out; ask for the first page", None)
}
