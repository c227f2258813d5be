//! A socket that one task can close while another reads and writes it.

use portcullis_policy::recovery::RecoverMutex;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Maximum bytes that a server may send before its response has begun: a handshake, a head, and the read-ahead of a
/// body. Informational responses have no limit of their own.
const PRELUDE_BYTES_MAX: u64 = 1024 * 1024;

/// A socket while it is open.
pub(super) type Holder = Mutex<Option<TcpStream>>;

/// The remaining bytes before a server must begin its response. `u64::MAX` once it has begun.
pub(super) struct Prelude(AtomicU64);

impl Prelude {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(PRELUDE_BYTES_MAX))
    }

    pub(super) fn end(&self) {
        self.0.store(u64::MAX, Ordering::Relaxed);
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Takes the bytes of a read out of the limit.
    fn take(&self, count: usize) -> io::Result<()> {
        // `Relaxed`, because no other memory depends on the number.
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

/// Closes a socket, even if others still refer to it.
pub(super) fn close(holder: &Holder) {
    drop(open(holder).take());
}

fn open(holder: &Holder) -> MutexGuard<'_, Option<TcpStream>> {
    holder.lock_recovered()
}

/// A socket that its connection may close at any time.
pub(super) struct Socket {
    pub(super) holder: Arc<Holder>,
    pub(super) prelude: Arc<Prelude>,
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
