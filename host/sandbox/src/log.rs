//! The log of a guest: its stdout, stderr and messages go to a capped buffer for the audit log, never to the host's own
//! streams.

use bytes::Bytes;
use portcullis_policy::recovery::RecoverMutex;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Maximum bytes of one write of a guest. It is small, so that one write cannot exceed the cap by much.
const WRITE_BYTES_MAX: usize = 4096;

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

impl IsTerminal for Sink {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Sink {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Sink {
    async fn ready(&mut self) {}
}

impl OutputStream for Sink {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES_MAX)
    }
}

impl AsyncWrite for Sink {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.append(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
