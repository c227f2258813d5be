//! The tasks of a connection. They end at the request's deadline, or when the connection is dropped.
//!
//! Dropping a connection closes its socket at once. Its tasks are only told to end.

use super::call::{Record, Slot};
use super::error::Failure;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// Maximum bytes that a server may send before its response has begun: a handshake, a head, and the read-ahead of a
/// body. Informational responses have no limit of their own.
const PRELUDE_BYTES_MAX: u64 = 1024 * 1024;

/// A socket while it is open.
pub(super) type Holder = Mutex<Option<TcpStream>>;

/// A connection of a call. When it is dropped, its socket is closed and its tasks are ended.
pub(super) struct Connection {
    tasks: Arc<Mutex<JoinSet<()>>>,
    deadline: Instant,
    holder: Arc<Holder>,
    prelude: Arc<Prelude>,
    _slot: Slot,
}

/// The remaining bytes before a server must begin its response. `u64::MAX` once it has begun.
struct Prelude(AtomicU64);

impl Prelude {
    /// Takes the bytes of a read out of the limit.
    fn take(&self, count: usize) -> io::Result<()> {
        let left = self.0.load(Ordering::Relaxed);
        if left == u64::MAX {
            return Ok(());
        }
        let left = left.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        // Do not overwrite `u64::MAX`, because the response may have begun meanwhile.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| (now != u64::MAX).then_some(left));
        if left == 0 { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }
}

impl Connection {
    /// Creates a connection for a socket.
    ///
    /// # Errors
    /// The call has ended.
    pub(super) fn new(stream: TcpStream, deadline: Instant, slot: Slot, record: &Record) -> Result<Self, Failure> {
        let holder = Arc::new(Mutex::new(Some(stream)));
        if !record.call().hold(&holder) {
            return Err(Failure::Incomplete);
        }
        let prelude = Arc::new(Prelude(AtomicU64::new(PRELUDE_BYTES_MAX)));
        Ok(Self { tasks: Arc::default(), deadline, holder, prelude, _slot: slot })
    }

    /// Lifts the limit, because the response has begun and has its own limits.
    pub(super) fn response_begins(&self) {
        self.prelude.0.store(u64::MAX, Ordering::Relaxed);
    }

    /// Returns whether the server sent too much before its response.
    pub(super) fn is_talked_out(&self) -> bool {
        self.prelude.0.load(Ordering::Relaxed) == 0
    }

    /// Returns the socket, for reading and writing.
    pub(super) fn socket(&self) -> Socket {
        Socket { holder: Arc::clone(&self.holder), prelude: Arc::clone(&self.prelude) }
    }

    /// Returns a spawner for tasks of this connection. It does not keep them alive.
    pub(super) fn spawner(&self) -> Spawner {
        Spawner { tasks: Arc::downgrade(&self.tasks), deadline: self.deadline }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        close(&self.holder);
    }
}

/// Closes a socket, even if others still refer to it.
pub(super) fn close(holder: &Holder) {
    drop(open(holder).take());
}

fn open(holder: &Holder) -> MutexGuard<'_, Option<TcpStream>> {
    holder.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A socket that its connection may close at any time.
pub(super) struct Socket {
    holder: Arc<Holder>,
    prelude: Arc<Prelude>,
}

impl Socket {
    fn with<T>(&self, poll: impl FnOnce(Pin<&mut TcpStream>) -> Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match &mut *open(&self.holder) {
            Some(stream) => poll(Pin::new(stream)),
            None => Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        match self.with(|stream| stream.poll_read(context, into)) {
            Poll::Ready(Ok(())) => Poll::Ready(self.prelude.take(into.filled().len() - before)),
            other => other,
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.with(|stream| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.with(|stream| stream.poll_write_vectored(context, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_shutdown(context))
    }
}

/// A spawner for tasks of a connection. HTTP/2 has several.
#[derive(Clone)]
pub(super) struct Spawner {
    tasks: Weak<Mutex<JoinSet<()>>>,
    deadline: Instant,
}

impl<F> hyper::rt::Executor<F> for Spawner
where
    F: Future + Send + 'static,
{
    fn execute(&self, future: F) {
        let Some(tasks) = self.tasks.upgrade() else { return };
        let deadline = self.deadline;
        let task = async move {
            // The result is dropped, because the future that waits for the response gets the error too.
            drop(timeout_at(deadline, future).await);
        };
        tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(task);
    }
}
