//! Reads a kept output line by line, from any line on, without reading everything before it or keeping more than a
//! piece in memory.

use super::place::ContentReader;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

/// Distance of the marks with known line numbers, in bytes. Starting anywhere means reading at most this much. The
/// marks of the largest output take a few tens of kilobytes.
pub(super) const MARK_BYTES: u64 = 256 * 1024;

/// Size of the read buffer, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// The lines of a kept output.
pub struct OutputLines {
    reader: BufReader<ContentReader>,
    /// The line breaks before each piece of [`MARK_BYTES`].
    marks: Vec<u64>,
    /// The current line, from 1.
    line: u64,
    /// Bytes of the current line that were read.
    column: u64,
}

/// A piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePiece {
    /// The line continues.
    Unfinished,
    /// The line ends with this piece, at a line break or at the end of the output.
    LineEnd,
}

impl OutputLines {
    pub(super) fn new(content: ContentReader, marks: &[u8]) -> Self {
        let marks = marks.chunks_exact(8).filter_map(|mark| Some(u64::from_le_bytes(mark.try_into().ok()?))).collect();
        Self { reader: BufReader::with_capacity(BUFFER_BYTES, content), marks, line: 1, column: 0 }
    }

    /// Returns the current line, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the bytes of the current line that were read.
    pub fn column(&self) -> u64 {
        self.column
    }

    /// Goes to the beginning of a line, from 1, or to the end if there are fewer lines.
    ///
    /// # Errors
    /// The content cannot be read, or `stop` fails between two pieces.
    pub fn go_to(&mut self, line: u64, stop: impl Fn() -> io::Result<()>) -> io::Result<()> {
        // Find the last piece that begins before the line or with it.
        let before = self.marks.partition_point(|breaks| breaks.saturating_add(1) < line);
        let piece = before.saturating_sub(1);
        // The reader is at the beginning, so the first piece needs no seek.
        if let Some(breaks) = self.marks.get(piece).filter(|_| piece > 0) {
            self.reader.seek(SeekFrom::Start(piece as u64 * MARK_BYTES))?;
            self.line = breaks + 1;
        }
        while self.line < line {
            stop()?;
            if self.skip_in_buffer(line)? == 0 {
                break;
            }
        }
        self.column = 0;
        Ok(())
    }

    /// Skips bytes of the line, or the whole line if it has fewer. Also skips the rest of a character that would be
    /// split.
    ///
    /// # Errors
    /// Those of [`Self::go_to`].
    pub fn skip(&mut self, bytes: u64, stop: impl Fn() -> io::Result<()>) -> io::Result<()> {
        let mut left = bytes;
        while left > 0 {
            stop()?;
            let buffer = self.reader.fill_buf()?;
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let passed = buffer[..most].iter().position(|byte| *byte == b'\n').unwrap_or(most);
            if passed == 0 {
                return Ok(());
            }
            self.reader.consume(passed);
            self.column += passed as u64;
            left -= passed as u64;
        }
        while self.reader.fill_buf()?.first().is_some_and(|byte| byte & 0xc0 == 0x80) {
            self.reader.consume(1);
            self.column += 1;
        }
        Ok(())
    }

    /// Reads at most `bytes_max` more bytes of the line, without its line break. Returns `None` at the end of the
    /// output.
    ///
    /// # Errors
    /// The content cannot be read.
    pub fn next(&mut self, bytes_max: usize, into: &mut Vec<u8>) -> io::Result<Option<LinePiece>> {
        let (mut left, mut any) = (bytes_max as u64, self.column > 0);
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                let ended = any.then_some(LinePiece::LineEnd);
                self.column = 0;
                self.line += u64::from(any);
                return Ok(ended);
            }
            any = true;
            if buffer[0] == b'\n' {
                self.reader.consume(1);
                (self.line, self.column) = (self.line + 1, 0);
                return Ok(Some(LinePiece::LineEnd));
            }
            if left == 0 {
                return Ok(Some(LinePiece::Unfinished));
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let taken = buffer[..most].iter().position(|byte| *byte == b'\n').unwrap_or(most);
            into.extend_from_slice(&buffer[..taken]);
            self.reader.consume(taken);
            self.column += taken as u64;
            left -= taken as u64;
        }
    }

    /// Skips line breaks in the buffer until the line is reached. Returns the number of skipped bytes.
    fn skip_in_buffer(&mut self, line: u64) -> io::Result<usize> {
        let buffer = self.reader.fill_buf()?;
        let mut passed = 0;
        while self.line < line
            && let Some(end) = buffer[passed..].iter().position(|byte| *byte == b'\n')
        {
            passed += end + 1;
            self.line += 1;
        }
        let passed = if self.line < line { buffer.len() } else { passed };
        self.reader.consume(passed);
        Ok(passed)
    }
}
