//! The stdio transport: one message per line on a server's standard streams.
//!
//! It replaces the library's own transport for these reasons. A server that prints too much, or that does not read,
//! ends the connection with an error. An answer is decoded as what its request demands. Messages are written in the
//! order in which the library sends them, so a cancellation never overtakes its call. What the server has room for is
//! written at once, without a task that wakes another thread.

use crate::closing::CloseReason;
use crate::decode::{DecodedLine, decode};
use crate::limits::ServerLimits;
use crate::lines::OutputLines;
use crate::server_input::{QueuedInput, ServerInput, closed};
use crate::traffic::Traffic;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Maximum messages that wait until the server reads them.
const QUEUE_MESSAGES_MAX: usize = 1024;

/// The connection to a server over its standard streams.
pub(crate) struct StdioTransport<R> {
    lines: OutputLines<R>,
    limits: ServerLimits,
    /// The bytes since the last message that were no message.
    noise_bytes: usize,
    input: ServerInput,
    /// `None` once the connection is closed.
    queue: Option<mpsc::Sender<QueuedMessage>>,
    writer: JoinHandle<()>,
    traffic: Arc<Traffic>,
}

/// The part of a message that is not written yet, and who waits until it is.
struct QueuedMessage {
    rest: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl<R: AsyncRead + Send + Unpin> StdioTransport<R> {
    /// Starts the task that writes. It ends when the transport is closed or dropped.
    pub(crate) fn new<W>(output: R, input: W, limits: &ServerLimits, traffic: Arc<Traffic>) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (queue, queued) = mpsc::channel(QUEUE_MESSAGES_MAX);
        let (input, rest) = ServerInput::new(input);
        let writer = tokio::spawn(write_all(rest, queued, limits.write_time, Arc::clone(&traffic)));
        Self {
            lines: OutputLines::new(output, limits.message_bytes),
            limits: limits.clone(),
            noise_bytes: 0,
            input,
            queue: Some(queue),
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

impl<R: AsyncRead + Send + Unpin> Transport<RoleClient> for StdioTransport<R> {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = self.write_or_queue(&message);
        async move {
            match sent? {
                None => Ok(()),
                Some(written) => written.await.unwrap_or_else(|_| Err(closed())),
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
        self.queue = None;
        // The server sees the end of its input when the writer has ended.
        if timeout(self.limits.shutdown_time, &mut self.writer).await.is_err() {
            self.writer.abort();
        }
        Ok(())
    }
}

impl<R> StdioTransport<R> {
    /// Writes a message, or puts into the queue what the server has no room for. Either is done when this returns, so
    /// messages keep their order. Returns what to wait for if it is in the queue.
    fn write_or_queue(
        &mut self,
        message: &TxJsonRpcMessage<RoleClient>,
    ) -> io::Result<Option<oneshot::Receiver<io::Result<()>>>> {
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let rest = match self.input.write_now(line) {
            Ok(Some(rest)) => rest,
            Ok(None) => return Ok(None),
            Err(error) => {
                // Half of the message may be written, so no other one can follow.
                self.queue = None;
                return Err(error);
            }
        };
        let (written, receiver) = oneshot::channel();
        match queue.try_send(QueuedMessage { rest, written }) {
            Ok(()) => Ok(Some(receiver)),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(closed()),
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.traffic.close(CloseReason::QueueFull { max: QUEUE_MESSAGES_MAX });
                Err(closed())
            }
        }
    }
}

impl<R> Drop for StdioTransport<R> {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

/// Writes queued messages until the queue is closed, then closes the server's input.
async fn write_all(
    mut input: QueuedInput,
    mut queue: mpsc::Receiver<QueuedMessage>,
    write_time: Duration,
    traffic: Arc<Traffic>,
) {
    while let Some(QueuedMessage { rest, written }) = queue.recv().await {
        let write = async {
            input.write_all(&rest).await?;
            input.flush().await
        };
        let Ok(result) = timeout(write_time, write).await else {
            // Half of the message may be written, so no other one can follow.
            traffic.close(CloseReason::WriteTimeout { max: write_time });
            return;
        };
        // A server that has closed its input may have answered before. So reading goes on until its output ends.
        let is_broken = result.is_err();
        // A sender that no longer waits does not need the result.
        let _ = written.send(result);
        if is_broken {
            return;
        }
        input.note_written();
    }
    // Dropping the input closes it, even if the server reads nothing until then.
    let _ = timeout(write_time, input.shutdown()).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{ClientJsonRpcMessage, ClientRequest, PingRequest, RequestId};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use tokio::io::{AsyncReadExt, DuplexStream, Empty, duplex, empty};

    /// Messages that are more than the stream has room for.
    const MESSAGES: i64 = 500;

    fn ping(number: i64) -> TxJsonRpcMessage<RoleClient> {
        ClientJsonRpcMessage::request(ClientRequest::PingRequest(PingRequest::default()), RequestId::Number(number))
    }

    fn transport(input: DuplexStream) -> StdioTransport<Empty> {
        StdioTransport::new(empty(), input, &ServerLimits::default(), Arc::new(Traffic::new()))
    }

    #[tokio::test]
    async fn messages_arrive_whole_and_in_order_at_a_slow_server() {
        let (near, mut far) = duplex(16);
        let mut transport = transport(near);
        let (mut sent, mut bytes) = (Vec::new(), Vec::new());
        for number in 0..MESSAGES {
            sent.push(tokio::spawn(transport.send(ping(number))));
            // The server reads less than it is sent.
            bytes.push(far.read_u8().await.unwrap());
        }
        let reader = tokio::spawn(async move { far.read_to_end(&mut bytes).await.map(|_| String::from_utf8(bytes)) });
        for sent in sent {
            sent.await.unwrap().unwrap();
        }
        transport.send(ping(MESSAGES)).await.unwrap();
        transport.close().await.unwrap();
        let text = reader.await.unwrap().unwrap().unwrap();
        let numbers = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_i64());
        assert!(numbers.eq((0..=MESSAGES).map(Some)), "{text}");
    }

    /// A task would wake another thread.
    #[tokio::test]
    async fn a_message_that_the_server_has_room_for_is_written_without_a_task() {
        let (near, mut far) = duplex(1024);
        let mut transport = transport(near);
        let sent = pin!(transport.send(ping(1))).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(sent, Poll::Ready(Ok(()))));
        let mut bytes = [0; 1024];
        let length = far.read(&mut bytes).await.unwrap();
        assert!(bytes[..length].ends_with(b"\n"), "{:?}", &bytes[..length]);
    }

    #[tokio::test]
    async fn nothing_follows_a_message_that_could_not_be_written() {
        let (near, far) = duplex(16);
        let mut transport = transport(near);
        drop(far);
        for _ in 0..2 {
            assert_eq!(transport.send(ping(1)).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }
    }
}
