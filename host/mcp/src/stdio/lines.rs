//! Reads lines of bounded length.

use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Maximum length of a line, in bytes. The limit for arguments is lower, which leaves room for JSON escapes.
pub(super) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes that are read at once: the capacity of a pipe, so that a burst of messages is read together.
const READ_BYTES: usize = 64 * 1024;

/// Maximum capacity that the buffer keeps after a long line, in bytes.
const ROOM_KEPT_BYTES: usize = 64 * 1024;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    /// A line without its line ending.
    Whole(Vec<u8>),
    /// A line that was too long and was skipped.
    TooLong,
    /// The end of the input.
    End,
}

/// A reader of lines of bounded length.
pub(super) struct LineReader<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of a line that was too long is being skipped.
    skipping: bool,
    most: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(from: R, most: usize) -> Self {
        Self { from: BufReader::with_capacity(READ_BYTES, from), line: Vec::new(), skipping: false, most }
    }

    /// Returns whether the next line was read already, so that [`Self::next`] does not wait.
    pub(super) fn has_next(&self) -> bool {
        self.from.buffer().contains(&b'\n')
    }

    /// Reads the next line. This is cancel safe: a dropped future leaves the partial line for the next call.
    pub(super) async fn next(&mut self) -> io::Result<InputLine> {
        loop {
            let available = self.from.fill_buf().await?;
            if available.is_empty() {
                // A last line without a line ending is incomplete, so it is dropped.
                return Ok(InputLine::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            let fits = self.line.len() + taken <= self.most;
            if fits && !self.skipping {
                self.line.extend_from_slice(&available[..taken]);
            } else {
                self.skipping = true;
                self.line.clear();
            }
            self.from.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(self.take());
            }
        }
    }

    fn take(&mut self) -> InputLine {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.skipping) {
            return InputLine::TooLong;
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        self.line = Vec::with_capacity(line.len().min(ROOM_KEPT_BYTES));
        InputLine::Whole(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let text = b"one\r\n\n0123456789\nthree\nnever ended".as_slice();
        let mut lines = LineReader::new(text, 9);
        let mut read = Vec::new();
        loop {
            match lines.next().await.expect("a slice can be read") {
                InputLine::End => break,
                line => read.push(line),
            }
        }
        let whole = |text: &str| InputLine::Whole(text.as_bytes().to_vec());
        assert_eq!(read, [whole("one"), whole(""), InputLine::TooLong, whole("three")]);
    }
}
