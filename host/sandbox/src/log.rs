//! Where a guest's stdout, stderr and messages go: one capped buffer for the record, never the host's own streams.

use bytes::Bytes;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The most a guest may write at once, in bytes: small, so that one write cannot be much over the cap.
const WRITE_BYTES_MAX: usize = 4096;

/// What a guest printed: hostile bytes, up to the cap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The bytes, stdout and stderr as they came.
    pub bytes: Vec<u8>,
    /// How many bytes came after the cap and are gone.
    pub dropped_bytes: u64,
}

/// Collects a guest's output. A guest that prints too much is not told: its output is cut, its call goes on.
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
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn append(&self, bytes: &[u8]) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.append(bytes, self.bytes_max);
    }

    /// Appends a whole line, on a line of its own: what was printed before it without an end is ended. When the log is
    /// full, only the line's own bytes count as gone.
    pub(crate) fn append_line(&self, line: &str) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
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
