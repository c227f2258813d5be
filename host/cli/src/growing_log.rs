//! The audit log as it grows, line by line.
//!
//! The entries are only shown, and nothing depends on them. `portcullis audit verify` checks that they are genuine.

use crate::environment;
use serde_json::Value;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The audit log, in the state directory.
const LOG_FILE: &str = "audit.jsonl";

/// Maximum bytes to read at once, enough for hundreds of calls. The rest is read at the next look.
const READ_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum length of a line that is kept until it is complete, in bytes: more than the host writes.
const LINE_BYTES_MAX: usize = 256 * 1024;

/// A reader that continues where it stopped.
#[derive(Debug)]
pub(crate) struct GrowingLog {
    file: PathBuf,
    /// How many bytes were read.
    read: u64,
    /// The incomplete last line.
    rest: Vec<u8>,
}

impl GrowingLog {
    /// Starts at the current end of the log.
    pub(crate) fn from_now_on(state: &Path) -> Self {
        let file = state.join(LOG_FILE);
        let read = environment::open_named(&file).and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len());
        Self { file, read, rest: Vec::new() }
    }

    /// Returns the entries since the last look. Returns none if the log cannot be read.
    pub(crate) fn news(&mut self) -> Vec<Value> {
        let Ok(bytes) = self.bytes() else { return Vec::new() };
        self.rest.extend(bytes);
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        if self.rest.len() > LINE_BYTES_MAX {
            self.rest.clear();
        }
        lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut file = environment::open_named(&self.file)?;
        if file.metadata()?.len() < self.read {
            // The log was replaced by a new one.
            (self.read, self.rest) = (0, Vec::new());
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        self.read += file.take(READ_BYTES_MAX).read_to_end(&mut bytes)? as u64;
        Ok(bytes)
    }
}
