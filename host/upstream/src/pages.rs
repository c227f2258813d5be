//! The pages of a list, of which a server may send any number.

use crate::error::ServerError;
use crate::limits::ServerLimits;
use rmcp::model::PaginatedRequestParams;
use serde::Serialize;
use std::collections::HashSet;
use std::io;

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
    /// Returns the parameters of the request for the next page.
    pub(crate) fn params(&mut self) -> PaginatedRequestParams {
        PaginatedRequestParams::default().with_cursor(self.next.take())
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

/// Returns the length of an entry as JSON, without writing it anywhere.
pub(crate) fn json_bytes(entry: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, entry) {
        Ok(()) => counter.0,
        // An entry that cannot be written is never accepted. Half of the maximum, so that a sum with it does not
        // overflow.
        Err(_) => usize::MAX / 2,
    }
}
