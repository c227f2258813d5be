//! The standard streams of a guest. Stdin is empty, and what goes to stdout and stderr is a part of the log.
//!
//! The open ones are counted, because a guest may keep them between two calls of a session.

use crate::log::Sink;
use bytes::Bytes;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, empty};
use wasmtime_wasi::cli::{IsTerminal, StdinStream, StdoutStream};
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

/// Maximum bytes of one write of a guest. It is small, so that one write cannot exceed the cap by much.
const WRITE_BYTES_MAX: usize = 4096;

/// The standard streams of one store. Clones share the log and the count.
#[derive(Clone)]
pub(crate) struct StandardStreams {
    sink: Sink,
    open: Arc<AtomicUsize>,
}

/// A stream that a guest has opened. It counts until it is dropped.
struct OpenStream(StandardStreams);

impl StandardStreams {
    pub(crate) fn new(sink: Sink) -> Self {
        Self { sink, open: Arc::default() }
    }

    /// Returns how many streams the guest has open.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    fn open_one(&self) -> OpenStream {
        self.open.fetch_add(1, Ordering::AcqRel);
        OpenStream(self.clone())
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl IsTerminal for StandardStreams {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for StandardStreams {
    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.open_one())
    }

    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        Box::new(empty())
    }
}

impl StdoutStream for StandardStreams {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.open_one())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.open_one())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for OpenStream {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl InputStream for OpenStream {
    fn read(&mut self, _: usize) -> StreamResult<Bytes> {
        Err(StreamError::Closed)
    }
}

impl OutputStream for OpenStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.sink.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        // Never less: what exceeds the cap is dropped, so a guest must not wait for room.
        Ok(WRITE_BYTES_MAX)
    }
}

impl AsyncWrite for OpenStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.sink.append(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
