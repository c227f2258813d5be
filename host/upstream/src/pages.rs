//! The pages of a list, of which a server may send any number.

use crate::error::ServerError;
use crate::limits::ServerLimits;
use std::collections::HashSet;

/// Maximum length of a cursor, in bytes.
const CURSOR_BYTES_MAX: usize = 64 * 1024;

/// The place in a list.
#[derive(Default)]
pub(crate) struct PageCursor {
    next: Option<String>,
    seen: HashSet<String>,
    pages: usize,
}

impl PageCursor {
    /// Returns the cursor of the next page.
    pub(crate) fn take(&mut self) -> Option<String> {
        self.next.take()
    }

    /// Goes on to the next page. Returns `false` at the end of the list.
    pub(crate) fn advance(&mut self, next: Option<String>, limits: &ServerLimits) -> Result<bool, ServerError> {
        self.pages += 1;
        // Some servers end a list with an empty cursor.
        let Some(next) = next.filter(|next| !next.is_empty()) else { return Ok(false) };
        if next.len() > CURSOR_BYTES_MAX {
            return Err(ServerError::ListTooLong { what: "bytes in a cursor", max: CURSOR_BYTES_MAX });
        }
        if self.pages >= limits.pages {
            return Err(ServerError::ListTooLong { what: "pages of a list", max: limits.pages });
        }
        if !self.seen.insert(next.clone()) {
            return Err(ServerError::RepeatedCursor);
        }
        self.next = Some(next);
        Ok(true)
    }
}
