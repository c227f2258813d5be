//! The standard input of a server. What sends a message writes it, if the server has room and no other message waits.
//! The rest goes through a queue, and a task writes it.

use portcullis_policy::recovery::RecoverMutex;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::io::AsyncWrite;

/// The standard input of a server, for those who send messages.
pub(crate) struct ServerInput(Arc<Mutex<InputState>>);

/// The standard input of a server, for the task that writes the queue. Dropping it closes the input.
pub(crate) struct QueuedInput(Arc<Mutex<InputState>>);

struct InputState {
    /// `None` once it is closed.
    to: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// Messages in the queue. No other message may be written before them.
    queued: usize,
}

impl ServerInput {
    pub(crate) fn new(to: impl AsyncWrite + Send + Unpin + 'static) -> (Self, QueuedInput) {
        let state = Arc::new(Mutex::new(InputState { to: Some(Box::new(to)), queued: 0 }));
        (Self(Arc::clone(&state)), QueuedInput(state))
    }

    /// Writes as much of a line as the server has room for. Returns the rest, which must be put into the queue. `None`
    /// if everything is written.
    ///
    /// # Errors
    /// The server has closed its end, or the input is closed. A part of the line may be written.
    pub(crate) fn write_now(&self, mut line: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        let mut state = self.0.lock_recovered();
        if state.queued == 0 {
            // No task is woken for this first try: if it must wait, the task of the queue tries again.
            let mut cx = Context::from_waker(Waker::noop());
            let mut to = state.open()?;
            if let Poll::Ready(written) = to.as_mut().poll_write(&mut cx, &line) {
                line.drain(..written?);
            }
            // If the flush must wait, the line goes into the queue, although nothing of it is left.
            if line.is_empty()
                && let Poll::Ready(flushed) = to.poll_flush(&mut cx)
            {
                return flushed.map(|()| None);
            }
        }
        state.queued += 1;
        Ok(Some(line))
    }
}

impl QueuedInput {
    /// Notes that a message of the queue is written.
    pub(crate) fn note_written(&self) {
        let mut state = self.0.lock_recovered();
        state.queued = state.queued.saturating_sub(1);
    }
}

impl Drop for QueuedInput {
    fn drop(&mut self) {
        self.0.lock_recovered().to = None;
    }
}

impl InputState {
    fn open(&mut self) -> io::Result<Pin<&mut (dyn AsyncWrite + Send + Unpin + 'static)>> {
        self.to.as_deref_mut().map(Pin::new).ok_or_else(closed)
    }
}

impl AsyncWrite for QueuedInput {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock_recovered().open()?.poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.lock_recovered().open()?.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.lock_recovered().open()?.poll_shutdown(cx)
    }
}

pub(crate) fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the server's standard input is closed")
}
