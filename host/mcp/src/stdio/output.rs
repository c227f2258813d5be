//! The output to the client: whole lines, in the order in which they were queued.

use super::streams::MessageWriter;
use portcullis::policy::recovery::RecoverMutex;
use rmcp::model::ServerJsonRpcMessage;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};
use tokio::io::AsyncWrite;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Maximum bytes that wait for a slow client while more messages are read. A client that writes many messages before it
/// reads gets this far. It is one message of the largest size.
pub(super) const WAITING_BYTES_MAX: usize = super::lines::LINE_BYTES_MAX;

/// Maximum capacity that the buffer keeps after a long line, in bytes.
const ROOM_KEPT_BYTES: usize = 64 * 1024;

/// The output to the client. Clones share it.
#[derive(Clone)]
pub(super) struct ClientOutput(Arc<OutputState>);

struct OutputState {
    queue: Mutex<OutputQueue>,
    /// Notified when a write has ended.
    wrote: Notify,
    /// Ends the session if the client has closed its end.
    end: CancellationToken,
}

/// The lines that are not written yet.
struct OutputQueue {
    /// `None` while a [`LineWrite`] has it, and after the end.
    to: Option<MessageWriter>,
    bytes: Vec<u8>,
    /// Bytes that a [`LineWrite`] has taken.
    taken_bytes: usize,
    is_closed: bool,
}

impl ClientOutput {
    /// Creates an output that cancels `end` if the client has closed its end.
    pub(super) fn new(to: MessageWriter, end: CancellationToken) -> Self {
        let queue = OutputQueue { to: Some(to), bytes: Vec::new(), taken_bytes: 0, is_closed: false };
        Self(Arc::new(OutputState { queue: Mutex::new(queue), wrote: Notify::new(), end }))
    }

    /// Queues whole lines, and writes what the client has room for. A task writes the rest, as does a write under way.
    ///
    /// # Errors
    /// The client has closed its end, or the output is closed.
    pub(super) fn push(&self, lines: &[u8]) -> io::Result<()> {
        let mut queue = self.queue();
        if queue.is_closed {
            return Err(io::ErrorKind::NotConnected.into());
        }
        queue.bytes.extend_from_slice(lines);
        let Some(mut write) = LineWrite::begin(self, &mut queue) else { return Ok(()) };
        drop(queue);
        // No task is woken for this first try: if it must wait, a new task tries again.
        match pin!(&mut write).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(written) => written,
            Poll::Pending => {
                tokio::spawn(write);
                Ok(())
            }
        }
    }

    /// Queues the lines of responses, if there are any. An error ends the session, so the caller need not know it.
    pub(super) fn push_response(&self, lines: &[u8]) {
        if !lines.is_empty() {
            let _ = self.push(lines);
        }
    }

    /// Waits until fewer than `bytes` wait to be written.
    pub(super) async fn has_room(&self, bytes: usize) {
        self.until(|queue| queue.is_closed || queue.bytes.len() + queue.taken_bytes < bytes).await;
    }

    /// Waits until everything is written, and closes the output.
    pub(super) async fn close(&self) {
        // A write gives `to` back when nothing is left.
        self.until(|queue| queue.is_closed || queue.to.is_some()).await;
        let mut queue = self.queue();
        queue.is_closed = true;
        queue.to = None;
    }

    async fn until(&self, holds: impl Fn(&OutputQueue) -> bool) {
        loop {
            // Created before the queue is read: `notify_waiters` reaches a future that exists, even if it was not
            // polled yet.
            let wrote = self.0.wrote.notified();
            if holds(&self.queue()) {
                return;
            }
            wrote.await;
        }
    }

    fn queue(&self) -> MutexGuard<'_, OutputQueue> {
        self.0.queue.lock_recovered()
    }
}

/// Writes queued lines until none is left. There is one at a time. If it is dropped, the output is closed, because a
/// part of a line may be written.
struct LineWrite {
    output: ClientOutput,
    to: Option<MessageWriter>,
    bytes: Vec<u8>,
    written: usize,
}

impl LineWrite {
    /// Begins a write, unless one is under way.
    fn begin(output: &ClientOutput, queue: &mut OutputQueue) -> Option<Self> {
        let to = queue.to.take()?;
        let mut write = Self { output: output.clone(), to: Some(to), bytes: Vec::new(), written: 0 };
        write.take(queue);
        Some(write)
    }

    /// Takes the queued lines.
    fn take(&mut self, queue: &mut OutputQueue) {
        std::mem::swap(&mut self.bytes, &mut queue.bytes);
        queue.taken_bytes = self.bytes.len();
        self.written = 0;
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let Some(to) = &mut self.to else { return Poll::Ready(Ok(())) };
            while self.written < self.bytes.len() {
                let wrote = ready!(Pin::new(&mut *to).poll_write(cx, &self.bytes[self.written..]))?;
                if wrote == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                self.written += wrote;
            }
            ready!(Pin::new(&mut *to).poll_flush(cx))?;
            self.bytes.clear();
            self.bytes.shrink_to(ROOM_KEPT_BYTES);
            let output = self.output.clone();
            let mut queue = output.queue();
            if queue.bytes.is_empty() {
                // Give back the buffer, too: it is as large as a line.
                std::mem::swap(&mut self.bytes, &mut queue.bytes);
                queue.taken_bytes = 0;
                queue.to = self.to.take();
            } else {
                self.take(&mut queue);
            }
            drop(queue);
            output.0.wrote.notify_waiters();
        }
    }
}

impl Future for LineWrite {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = ready!(self.poll_write(cx));
        if written.is_err() {
            self.output.0.end.cancel();
        }
        Poll::Ready(written)
    }
}

impl Drop for LineWrite {
    fn drop(&mut self) {
        if self.to.is_some() {
            self.output.queue().is_closed = true;
            self.output.0.wrote.notify_waiters();
        }
    }
}

/// Encodes a message as a line. It contains no line breaks, because JSON escapes them.
pub(super) fn encode(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, duplex};
    use tokio::time::timeout;

    /// A wait that must not end.
    const SHORT: Duration = Duration::from_millis(50);

    fn line(number: usize) -> String {
        format!("line {number}\n")
    }

    #[tokio::test]
    async fn lines_arrive_whole_and_in_order_at_a_slow_client() {
        const LINES: usize = 1000;
        let (near, mut far) = duplex(16);
        let output = ClientOutput::new(Box::new(near), CancellationToken::new());
        for number in 0..LINES {
            output.push(line(number).as_bytes()).unwrap();
        }
        assert!(timeout(SHORT, output.has_room(1)).await.is_err(), "the client has read nothing");
        let reader = tokio::spawn(async move {
            let mut text = String::new();
            far.read_to_string(&mut text).await.map(|_| text)
        });
        output.has_room(1).await;
        output.push(line(LINES).as_bytes()).unwrap();
        output.close().await;
        assert!(output.push(b"after the end\n").is_err());
        let all: String = (0..=LINES).map(line).collect();
        assert_eq!(reader.await.unwrap().unwrap(), all);
    }

    #[tokio::test]
    async fn a_client_that_has_closed_its_end_ends_the_session() {
        let (near, far) = duplex(16);
        let end = CancellationToken::new();
        let output = ClientOutput::new(Box::new(near), end.clone());
        output.push(line(1).repeat(10).as_bytes()).unwrap();
        drop(far);
        timeout(Duration::from_secs(60), end.cancelled()).await.unwrap();
        // A task that waits for room no longer does, and nothing more is queued.
        output.has_room(1).await;
        assert!(output.push(line(2).as_bytes()).is_err());
        output.close().await;
    }
}
