//! Reads the lines of the log, up to the maximum length of a line.

use super::chain::LINE_BYTES_MAX;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;

/// The lines of a part of the log.
pub(super) struct LogLines {
    reader: BufReader<LogPart>,
    line: Vec<u8>,
}

/// A part of a file. It has its own position, because everyone who shares the file shares the file's position.
struct LogPart {
    file: File,
    at: u64,
    end: u64,
}

impl LogLines {
    /// Returns the lines from one byte to another, as far as they exist.
    pub(super) fn between(log: &File, from: u64, to: u64) -> io::Result<Self> {
        let part = LogPart { file: log.try_clone()?, at: from, end: to };
        Ok(Self { reader: BufReader::new(part), line: Vec::new() })
    }

    /// Returns the next line with its line break. The line break is missing if the part ends within the line, or the
    /// line is too long.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        // What another program wrote may have no line break, so bound the memory of a line.
        let read = self.reader.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut self.line)?;
        Ok((read > 0).then_some(self.line.as_slice()))
    }
}

impl Read for LogPart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let read = self.file.read_at(&mut buffer[..length], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
