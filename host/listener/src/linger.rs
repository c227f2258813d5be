//! The end of a connection whose client may still be sending.
//!
//! A server may answer before it has read the whole request, for example with 401 or 413. If it then closes the socket,
//! the system resets the connection at the next byte of the client, and the client can lose the answer. So the server
//! first shuts down its own direction, and then keeps reading for a short time.

use http_body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Maximum bytes to discard: several times the largest request. A client that sends more does not read the answer.
const LINGER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes discarded in one read.
const DISCARD_BYTES: usize = 8 * 1024;

/// Whether bytes have arrived that do not belong to a fully read request. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unread(Arc<AtomicBool>);

impl Unread {
    fn set(&self, unread: bool) {
        // Relaxed, because no other memory depends on the flag. It only decides whether to linger.
        self.0.store(unread, Ordering::Relaxed);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Tracks the body of a request, so that the connection does not linger after a fully read request.
    pub(crate) fn follow<B: Body>(&self, body: B) -> FollowedBody<B> {
        if body.is_end_stream() {
            self.set(false);
        }
        FollowedBody { body, unread: self.clone() }
    }
}

/// A request body that records when it has been read to its end.
pub(crate) struct FollowedBody<B> {
    body: B,
    unread: Unread,
}

impl<B: Body + Unpin> Body for FollowedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        // A reader may stop at the last frame of a body with a known length, and never poll for the `None`.
        if frame.is_none() || self.body.is_end_stream() {
            self.unread.set(false);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection that keeps reading after its end, if a request was answered before it was fully read.
pub(crate) struct Lingering {
    stream: TcpStream,
    unread: Unread,
    time: Duration,
    farewell: Option<LingerBudget>,
}

/// The remaining time and bytes to keep reading.
struct LingerBudget {
    over: Pin<Box<Sleep>>,
    bytes_left: usize,
}

impl Lingering {
    /// Creates a connection that keeps reading for at most this time.
    pub(crate) fn new(stream: TcpStream, unread: Unread, time: Duration) -> Self {
        Self { stream, unread, time, farewell: None }
    }
}

impl LingerBudget {
    fn new(time: Duration) -> Self {
        Self { over: Box::pin(sleep(time)), bytes_left: LINGER_BYTES_MAX }
    }

    /// Discards input until the client closes, or the time or byte limit is reached.
    fn poll_discard(&mut self, stream: &mut TcpStream, context: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; DISCARD_BYTES];
        // Poll the timer before each read, so that a client that sends without a pause reaches the time limit, too.
        while self.over.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer));
            let left = self.bytes_left.checked_sub(buffer.filled().len());
            match (read, left) {
                (Ok(()), Some(left)) if !buffer.filled().is_empty() => self.bytes_left = left,
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Lingering {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.unread.set(true);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Lingering {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, unread, time, farewell } = self.get_mut();
        // hyper polls this until it is ready. The socket is shut down only in the first polls.
        if farewell.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        }
        if !unread.get() {
            return Poll::Ready(Ok(()));
        }
        farewell.get_or_insert_with(|| LingerBudget::new(*time)).poll_discard(stream, context).map(Ok)
    }
}
