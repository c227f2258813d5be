//! Reading a kept output line by line, from any line on, without reading all that stands before it and without holding
//! more than a piece of it.

use cap_std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

/// How far apart the places are whose line is known, in bytes: to begin anywhere costs to read so much at the most, and
/// the marks of the largest output are a few tens of kilobytes.
pub(crate) const MARK_BYTES: u64 = 256 * 1024;

/// What is read from the file at once, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// The lines of a kept output.
pub(crate) struct Lines {
    reader: BufReader<File>,
    /// The line breaks before each piece of [`MARK_BYTES`].
    marks: Vec<u64>,
    /// The line that the reader stands in, from 1.
    line: u64,
    /// Bytes of it that were read.
    column: u64,
}

/// A piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// There is more of the line.
    Unfinished,
    /// The line ends with it, with a line break or with the output.
    LineEnd,
}

impl Lines {
    pub(super) fn new(file: File, marks: &[u8]) -> Self {
        let marks = marks.chunks_exact(8).filter_map(|mark| Some(u64::from_le_bytes(mark.try_into().ok()?))).collect();
        Self { reader: BufReader::with_capacity(BUFFER_BYTES, file), marks, line: 1, column: 0 }
    }

    /// The line that comes next, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Bytes of the line that were read already.
    pub(crate) fn column(&self) -> u64 {
        self.column
    }

    /// Goes to the beginning of a line, from 1, as far as there are so many.
    ///
    /// # Errors
    /// The file cannot be read, or `stop` says so between two pieces.
    pub(crate) fn go_to(&mut self, line: u64, stop: impl Fn() -> io::Result<()>) -> io::Result<()> {
        // The last piece that begins before the line does, or where it does.
        let before = self.marks.partition_point(|breaks| breaks.saturating_add(1) < line);
        let piece = before.saturating_sub(1);
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

    /// Passes over bytes of the line, as far as it has so many. A character that is cut in two goes with what is
    /// passed.
    ///
    /// # Errors
    /// As [`Self::go_to`].
    pub(crate) fn skip(&mut self, bytes: u64, stop: impl Fn() -> io::Result<()>) -> io::Result<()> {
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

    /// Reads on in the line, as many bytes as these at the most, without its line break; nothing at the end of the
    /// output.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn next(&mut self, bytes_max: usize, into: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        let (mut left, mut any) = (bytes_max as u64, self.column > 0);
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                let ended = any.then_some(Piece::LineEnd);
                self.column = 0;
                self.line += u64::from(any);
                return Ok(ended);
            }
            any = true;
            if buffer[0] == b'\n' {
                self.reader.consume(1);
                (self.line, self.column) = (self.line + 1, 0);
                return Ok(Some(Piece::LineEnd));
            }
            if left == 0 {
                return Ok(Some(Piece::Unfinished));
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let taken = buffer[..most].iter().position(|byte| *byte == b'\n').unwrap_or(most);
            into.extend_from_slice(&buffer[..taken]);
            self.reader.consume(taken);
            self.column += taken as u64;
            left -= taken as u64;
        }
    }

    /// Passes over line breaks in what is buffered until the line is there, and returns how much was passed.
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
