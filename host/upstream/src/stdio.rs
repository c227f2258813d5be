//! The stdio transport: one message per line on a server's standard streams.
//!
//! It replaces the library's own transport for three reasons. A server that prints too much, or that does not read,
//! ends the connection with an error. An answer is decoded as what its request demands. Messages are written in the
//! order in which the library sends them, so a cancellation never overtakes its call.

use crate::closing::CloseReason;
use crate::decode::{DecodedLine, decode};
use crate::limits::ServerLimits;
use crate::lines::OutputLines;
use crate::traffic::Traffic;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Maximum messages that wait until the server reads them.
const QUEUE_MESSAGES_MAX: usize = 1024;

/// The connection to a server over its standard streams.
pub(crate) struct StdioTransport<R, W> {
    lines: OutputLines<R>,
    limits: ServerLimits,
    /// The bytes since the last message that were no message.
    noise_bytes: usize,
    /// `None` once the connection is closed. The stream is closed when the writer has ended, too.
    to: Option<ToServer<W>>,
    writer: JoinHandle<()>,
    traffic: Arc<Traffic>,
}

/// How messages get to a server: at once, or through the queue.
struct ToServer<W> {
    input: Arc<ServerInput<W>>,
    queue: mpsc::Sender<QueuedMessage>,
}

/// The input of a server, which the transport and its writer share.
struct ServerInput<W> {
    stream: Mutex<W>,
    /// Messages that are queued or half written. Only the transport adds to them.
    unwritten: AtomicUsize,
}

/// A message on its way to the server, and who waits until it is written.
struct QueuedMessage {
    line: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

/// What became of a message.
enum SentMessage {
    Written,
    /// The writer says when it is written.
    Queued(oneshot::Receiver<io::Result<()>>),
}

impl<R, W> StdioTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Starts the task that writes. It ends when the transport is closed or dropped.
    pub(crate) fn new(output: R, input: W, limits: &ServerLimits, traffic: Arc<Traffic>) -> Self {
        let (queue, queued) = mpsc::channel(QUEUE_MESSAGES_MAX);
        let input = Arc::new(ServerInput { stream: Mutex::new(input), unwritten: AtomicUsize::new(0) });
        let writer = tokio::spawn(write_all(Arc::clone(&input), queued, limits.write_time, Arc::clone(&traffic)));
        Self {
            lines: OutputLines::new(output, limits.message_bytes),
            limits: limits.clone(),
            noise_bytes: 0,
            to: Some(ToServer { input, queue }),
            writer,
            traffic,
        }
    }

    /// Reads lines until one is a message.
    async fn read(&mut self) -> Result<RxJsonRpcMessage<RoleClient>, CloseReason> {
        loop {
            // Lines that are in the buffer already are read without waiting, so others would not get their turn.
            tokio::task::consume_budget().await;
            let line = self.lines.next().await?;
            if line.is_empty() {
                continue;
            }
            let bytes = line.len();
            match decode(line, self.limits.message_values, |id| self.traffic.expected(id)) {
                DecodedLine::Message(message) => {
                    self.noise_bytes = 0;
                    return Ok(*message);
                }
                DecodedLine::Unused => {}
                DecodedLine::Noise => {
                    self.noise_bytes += bytes;
                    if self.noise_bytes > self.limits.noise_bytes {
                        return Err(CloseReason::Noise { max: self.limits.noise_bytes });
                    }
                }
            }
        }
    }
}

impl<R, W> Transport<RoleClient> for StdioTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = self.write_or_enqueue(&message);
        async move {
            match sent? {
                SentMessage::Written => Ok(()),
                SentMessage::Queued(written) => written.await.unwrap_or_else(|_| Err(closed())),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        match self.read().await {
            Ok(message) => Some(message),
            Err(reason) => {
                self.traffic.close(reason);
                None
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.to = None;
        // The server sees the end of its input when the writer has ended.
        if timeout(self.limits.shutdown_time, &mut self.writer).await.is_err() {
            self.writer.abort();
        }
        Ok(())
    }
}

impl<R, W: AsyncWrite + Unpin> StdioTransport<R, W> {
    /// Writes a message, so that no task is woken for it. If the server has no room for it, or others wait, the message
    /// or the rest of it is in the queue when this returns. So messages keep their order.
    fn write_or_enqueue(&mut self, message: &TxJsonRpcMessage<RoleClient>) -> io::Result<SentMessage> {
        let ToServer { input, queue } = self.to.as_ref().ok_or_else(closed)?;
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        // After an error, half of the message may be written, so no other one can follow.
        match input.try_write(&mut line) {
            Ok(true) => return Ok(SentMessage::Written),
            Ok(false) => {}
            Err(error) => {
                self.to = None;
                return Err(error);
            }
        }
        let (written, receiver) = oneshot::channel();
        input.unwritten.fetch_add(1, Ordering::AcqRel);
        match queue.try_send(QueuedMessage { line, written }) {
            Ok(()) => Ok(SentMessage::Queued(receiver)),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(closed()),
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.traffic.close(CloseReason::QueueFull { max: QUEUE_MESSAGES_MAX });
                Err(closed())
            }
        }
    }
}

impl<W: AsyncWrite + Unpin> ServerInput<W> {
    /// Writes what the server has room for, and keeps the rest of the line. Returns whether everything is written.
    fn try_write(&self, line: &mut Vec<u8>) -> io::Result<bool> {
        if self.unwritten.load(Ordering::Acquire) > 0 {
            return Ok(false);
        }
        let Ok(mut stream) = self.stream.try_lock() else { return Ok(false) };
        // No task needs to be woken: if there is no room, the writer tries again.
        let mut cx = Context::from_waker(Waker::noop());
        let mut written = 0;
        while written < line.len() {
            match Pin::new(&mut *stream).poll_write(&mut cx, &line[written..]) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(wrote) => written += wrote?,
                Poll::Pending => break,
            }
        }
        line.drain(..written);
        match Pin::new(&mut *stream).poll_flush(&mut cx) {
            Poll::Ready(flushed) => flushed.map(|()| line.is_empty()),
            Poll::Pending => Ok(false),
        }
    }
}

impl<R, W> Drop for StdioTransport<R, W> {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

/// Writes queued messages until the queue is closed, then closes the server's input.
async fn write_all<W: AsyncWrite + Unpin>(
    input: Arc<ServerInput<W>>,
    mut queue: mpsc::Receiver<QueuedMessage>,
    write_time: Duration,
    traffic: Arc<Traffic>,
) {
    while let Some(QueuedMessage { line, written }) = queue.recv().await {
        let write = async {
            let mut stream = input.stream.lock().await;
            stream.write_all(&line).await?;
            stream.flush().await
        };
        let Ok(result) = timeout(write_time, write).await else {
            // Half of the message may be written, so no other one can follow.
            traffic.close(CloseReason::WriteTimeout { max: write_time });
            return;
        };
        // A server that has closed its input may have answered before. So reading goes on until its output ends.
        let is_broken = result.is_err();
        input.unwritten.fetch_sub(1, Ordering::AcqRel);
        let _ = written.send(result);
        if is_broken {
            return;
        }
    }
    let shutdown = async { input.stream.lock().await.shutdown().await };
    let _ = timeout(write_time, shutdown).await;
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the server's standard input is closed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{ClientJsonRpcMessage, ClientRequest, PingRequest, RequestId};
    use tokio::io::{AsyncReadExt, DuplexStream, Empty, ReadBuf, duplex, empty};

    /// Messages that are more than the stream has room for.
    const MESSAGES: i64 = 500;

    fn ping(number: i64) -> TxJsonRpcMessage<RoleClient> {
        ClientJsonRpcMessage::request(ClientRequest::PingRequest(PingRequest::default()), RequestId::Number(number))
    }

    fn transport(input: DuplexStream) -> StdioTransport<Empty, DuplexStream> {
        StdioTransport::new(empty(), input, &ServerLimits::default(), Arc::new(Traffic::new()))
    }

    #[tokio::test]
    async fn a_message_is_written_before_another_task_runs() {
        let (near, mut far) = duplex(1024);
        let mut transport = transport(near);
        drop(transport.send(ping(1)));
        let mut bytes = [0; 1024];
        let mut read = ReadBuf::new(&mut bytes);
        let polled = Pin::new(&mut far).poll_read(&mut Context::from_waker(Waker::noop()), &mut read);
        assert!(polled.is_ready() && read.filled().ends_with(b"}\n"), "{read:?}");
    }

    #[tokio::test]
    async fn messages_arrive_whole_and_in_order_at_a_slow_server() {
        let (near, mut far) = duplex(16);
        let mut transport = transport(near);
        let (mut sent, mut bytes) = (Vec::new(), Vec::new());
        for number in 0..MESSAGES {
            sent.push(tokio::spawn(transport.send(ping(number))));
            // Now there is room, but earlier messages wait.
            bytes.push(far.read_u8().await.unwrap());
        }
        let reader = tokio::spawn(async move { far.read_to_end(&mut bytes).await.map(|_| String::from_utf8(bytes)) });
        for sent in sent {
            sent.await.unwrap().unwrap();
        }
        // Now there is room, and no message waits.
        transport.send(ping(MESSAGES)).await.unwrap();
        transport.close().await.unwrap();
        let text = reader.await.unwrap().unwrap().unwrap();
        let numbers = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_i64());
        assert!(numbers.eq((0..=MESSAGES).map(Some)), "{text}");
    }

    #[tokio::test]
    async fn nothing_follows_a_message_that_could_not_be_written() {
        let (near, far) = duplex(16);
        let mut transport = transport(near);
        drop(far);
        for _ in 0..2 {
            assert_eq!(transport.send(ping(1)).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }
        assert!(transport.to.is_none());
    }
}
