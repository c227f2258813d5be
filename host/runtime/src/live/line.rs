//! The lines of the feed: one JSON document each. A reader skips a line of another version that it does not know.

use super::call::{LiveCall, LiveHost};
use serde::{Deserialize, Serialize};

/// Maximum length of a line, in bytes. The texts of a call have at most 12 KiB, and JSON escapes a byte with at most
/// six characters.
pub(super) const LINE_BYTES_MAX: usize = 128 * 1024;

/// A line of the feed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LiveLine {
    /// The host, as the first line.
    Host(LiveHost),
    /// A call under way, or the change of one.
    Call(Box<LiveCall>),
    /// The reader was too slow, so changes were lost. It can connect again.
    Lagged,
    /// The host already has as many readers as it serves.
    Full,
}

impl LiveLine {
    /// Appends the line to a buffer. A line that cannot be written is left out.
    pub(super) fn append(&self, buffer: &mut Vec<u8>) {
        let start = buffer.len();
        if serde_json::to_writer(&mut *buffer, self).is_err() || buffer.len() - start >= LINE_BYTES_MAX {
            buffer.truncate(start);
        } else {
            buffer.push(b'\n');
        }
    }

    /// Parses a line without its line break.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}
