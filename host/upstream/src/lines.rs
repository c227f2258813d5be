//! Reads the lines of a server's output, none of which can be too long.

use crate::closing::CloseReason;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Maximum capacity that the buffer keeps after a long line, in bytes.
const CAPACITY_KEPT_BYTES: usize = 256 * 1024;

/// A reader of lines of bounded length.
pub(crate) struct OutputLines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// Whether the line in the buffer is complete, and the caller has seen it.
    is_whole: bool,
    bytes_max: usize,
}

impl<R: AsyncRead + Unpin> OutputLines<R> {
    pub(crate) fn new(from: R, bytes_max: usize) -> Self {
        Self { from: BufReader::with_capacity(CHUNK_BYTES, from), line: Vec::new(), is_whole: false, bytes_max }
    }

    /// Reads the next line, without its line ending. This is cancel safe: a dropped future leaves the partial line for
    /// the next call.
    ///
    /// # Errors
    /// The output has ended, cannot be read, or has a line that is too long.
    pub(crate) async fn next(&mut self) -> Result<&[u8], CloseReason> {
        // Only now, because the caller has borrowed the line until this call.
        if self.is_whole {
            self.is_whole = false;
            self.line.clear();
            self.line.shrink_to(CAPACITY_KEPT_BYTES);
        }
        loop {
            let available = self.from.fill_buf().await.map_err(|error| CloseReason::Unreadable(Arc::new(error)))?;
            if available.is_empty() {
                // A last line without a line ending is incomplete, so it is dropped.
                return Err(CloseReason::EndOfOutput);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            if self.line.len() + taken > self.bytes_max {
                return Err(CloseReason::MessageTooLong { max: self.bytes_max });
            }
            self.line.extend_from_slice(&available[..taken]);
            self.from.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                self.is_whole = true;
                return Ok(self.line.trim_ascii());
            }
        }
    }
}
