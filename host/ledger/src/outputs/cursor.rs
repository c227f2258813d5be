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
        // Also to the first piece, because the reader may be behind the line, or within it.
        self.reader.seek(SeekFrom::Start(piece as u64 * MARK_BYTES))?;
        // No line break is before the first piece, whether it has a mark or not.
        self.line = self.marks.get(piece).copied().unwrap_or(0).saturating_add(1);
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own file")]
mod tests {
    use super::*;
    use cap_std::fs::File;
    use std::fs;

    /// Length of each line with its line break, in bytes. No piece begins with a line.
    const LINE_BYTES: u64 = 100;

    fn next_line(lines: &mut OutputLines) -> String {
        let mut text = Vec::new();
        assert_eq!(lines.next(1000, &mut text).unwrap(), Some(LinePiece::LineEnd));
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_line_is_read_from_its_beginning_wherever_the_reader_is() {
        let path = std::env::temp_dir().join(format!("portcullis-cursor-{}", std::process::id()));
        let content: String = (1..=8000).map(|line| format!("{line:099}\n")).collect();
        fs::write(&path, &content).unwrap();
        let file = File::from_std(fs::File::open(&path).unwrap());
        fs::remove_file(&path).unwrap();
        let pieces = content.len() as u64 / MARK_BYTES + 1;
        let marks: Vec<u8> = (0..pieces).flat_map(|piece| (piece * MARK_BYTES / LINE_BYTES).to_le_bytes()).collect();
        let mut lines = OutputLines::new(ContentReader::File(file), &marks);
        for line in [1, 7000, 3, 3, 1, 8000, 2622, 2621, 2] {
            lines.go_to(line, || Ok(())).unwrap();
            // The second time, the reader is in the middle of the line.
            lines.next(10, &mut Vec::new()).unwrap();
            lines.go_to(line, || Ok(())).unwrap();
            assert_eq!((lines.line(), lines.column()), (line, 0));
            assert_eq!(next_line(&mut lines), format!("{line:099}"));
        }
    }
}
