//! The log of a guest: its stdout, stderr and messages go to a capped buffer for the audit log, never to the host's own
//! streams.

use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex};

/// A guest's log output, up to the cap. Untrusted bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The bytes of stdout, stderr and messages, in order of arrival.
    pub bytes: Vec<u8>,
    /// How many bytes beyond the cap were dropped.
    pub dropped_bytes: u64,
}

/// A collector of a guest's log output. Output beyond the cap is dropped without an error, and the call continues.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    log: Arc<Mutex<Log>>,
    bytes_max: usize,
}

impl Sink {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { log: Arc::default(), bytes_max }
    }

    pub(crate) fn take(&self) -> Log {
        std::mem::take(&mut *self.log.lock_recovered())
    }

    pub(crate) fn append(&self, bytes: &[u8]) {
        let mut log = self.log.lock_recovered();
        log.append(bytes, self.bytes_max);
    }

    /// Appends a whole line on its own line. Ends an unfinished line before it. If the log is full, only the bytes of
    /// the line itself count as dropped.
    pub(crate) fn append_line(&self, line: &str) {
        let mut log = self.log.lock_recovered();
        let is_full = log.bytes.len() == self.bytes_max;
        if !is_full && log.bytes.last().is_some_and(|last| *last != b'\n') {
            log.append(b"\n", self.bytes_max);
        }
        log.append(line.as_bytes(), self.bytes_max);
    }
}

impl Log {
    fn append(&mut self, bytes: &[u8], bytes_max: usize) {
        let kept = bytes.len().min(bytes_max.saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.dropped_bytes += (bytes.len() - kept) as u64;
    }
}
