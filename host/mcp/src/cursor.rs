//! The cursors of lists: the last item of the previous page, encoded so that clients treat it as opaque.

use data_encoding::BASE64URL_NOPAD;
use rmcp::ErrorData;

/// Maximum length of a cursor, in bytes. Cursors of this server are shorter.
const CURSOR_BYTES_MAX: usize = 1024;

/// Returns a cursor to the items after `last`.
pub(crate) fn seal(last: &str) -> String {
    BASE64URL_NOPAD.encode(last.as_bytes())
}

/// Returns the item that a cursor follows.
///
/// # Errors
/// The cursor is not from this server.
pub(crate) fn open(cursor: &str) -> Result<String, ErrorData> {
    if cursor.len() > CURSOR_BYTES_MAX {
        return Err(unknown());
    }
    let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).map_err(|_| unknown())?;
    String::from_utf8(bytes).map_err(|_| unknown())
}

/// Returns the error for an unknown cursor.
pub(crate) fn unknown() -> ErrorData {
    ErrorData::invalid_params("unknown cursor; start again from the first page, without a cursor", None)
}
