//! The transport for the protocol library: messages in and out, one per line.

use super::in_flight::{InFlight, NotLetIn, REQUESTS_MAX};
use super::lines::{InputLine, LINE_BYTES_MAX, LineReader};
use super::streams::{Input, MessageWriter};
use crate::judge::{Judged, judge};
use crate::rpc_error;
use crate::stopping::TransportStop;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::io;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

/// What it takes to end a client's transport: let its calls finish, then cancel the rest.
#[derive(Clone)]
pub(super) struct TransportEnd {
    pub(super) stopping: TransportStop,
    pub(super) in_flight: InFlight,
    /// Ends the session.
    pub(super) end: CancellationToken,
}

impl TransportEnd {
    /// Lets requests in flight finish within the grace period, and then ends the session.
    pub(super) async fn say(&self) {
        self.stopping.end_calls(|| self.in_flight.is_empty()).await;
        self.end.cancel();
    }
}

/// The transport of one client.
pub(super) struct Wire {
    lines: LineReader<Input>,
    out: Arc<tokio::sync::Mutex<Out>>,
    in_flight: InFlight,
    /// The response to an invalid message that is not in the output buffer yet.
    refusal: Option<Vec<u8>>,
    /// Whether a part of a refusal may still be in the output buffer.
    unflushed: bool,
    /// Whether the session has begun. Until then, the library fails on anything but a request.
    begun: bool,
    farewell: TransportEnd,
}

impl Wire {
    /// Creates a transport that ends the session when the client disconnects.
    pub(super) fn new(input: Input, output: MessageWriter, in_flight: InFlight, farewell: TransportEnd) -> Self {
        let out = Out { to: Some(output), bytes: Vec::new(), written: 0, end: farewell.end.clone() };
        Self {
            lines: LineReader::new(input, LINE_BYTES_MAX),
            out: Arc::new(tokio::sync::Mutex::new(out)),
            in_flight,
            refusal: None,
            unflushed: false,
            begun: false,
            farewell,
        }
    }

    fn refuse(&mut self, id: Option<RequestId>, error: ErrorData) {
        self.refusal = encode(&ServerJsonRpcMessage::error(error, id)).ok();
    }

    /// Writes the refusal. This is cancel safe.
    async fn write_refusal(&mut self) -> io::Result<()> {
        if self.refusal.is_none() && !self.unflushed {
            return Ok(());
        }
        let mut out = self.out.lock().await;
        if let Some(refusal) = self.refusal.take() {
            out.bytes.extend(refusal);
            self.unflushed = true;
        }
        out.flush().await?;
        self.unflushed = false;
        Ok(())
    }

    /// Returns a message if it may be processed.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                self.begun |= begins(&request.request);
                let error = match self.in_flight.begin(&request.id) {
                    Ok(()) => return Some(message),
                    Err(NotLetIn::Full) => rpc_error::limit_exceeded(format!(
                        "{REQUESTS_MAX} requests are in flight, and there can be no more: send this one again after a \
                         response, or cancel another one first"
                    )),
                    Err(NotLetIn::Twice) => ErrorData::invalid_request("a request with this id is in flight", None),
                };
                self.refuse(Some(request.id.clone()), error);
                None
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // A cancelled request gets no response.
                    self.in_flight.end(id);
                }
                self.begun.then_some(message)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => self.begun.then_some(message),
        }
    }

    /// Handles the end of the input: gives calls in flight a grace period and then cancels them.
    fn close_input(&self) {
        let farewell = self.farewell.clone();
        tokio::spawn(async move { farewell.say().await });
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (out, in_flight) = (Arc::clone(&self.out), self.in_flight.clone());
        async move {
            // Remove the id before writing, because the client may reuse it as soon as it has the response.
            if let Some(id) = answered(&item) {
                in_flight.end(id);
            }
            match encode(&item) {
                Ok(line) => {
                    let mut out = out.lock().await;
                    out.bytes.extend(line);
                    out.flush().await
                }
                Err(error) => Err(error),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.write_refusal().await.ok()?;
            match self.lines.next().await {
                Ok(InputLine::Whole(line)) => match judge(&line) {
                    Judged::Message(message) => match self.admit(*message) {
                        Some(message) => return Some(message),
                        None => continue,
                    },
                    Judged::Refused(id, error) => self.refuse(id, error),
                    Judged::Ignored => {}
                },
                Ok(InputLine::TooLong) => {
                    let message = format!("the message is longer than {LINE_BYTES_MAX} bytes");
                    self.refuse(None, ErrorData::invalid_request(message, None));
                }
                Ok(InputLine::End) | Err(_) => {
                    self.close_input();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        drop(self.out.lock().await.to.take());
        Ok(())
    }
}

/// Returns whether a request begins a session, in either era.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().protocol_version().is_some(),
    }
}

/// Returns the id of the request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// Encodes a message as a line. It contains no line breaks, because JSON escapes them.
fn encode(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// The output buffer. If a write is dropped in the middle of a line, the rest stays here, and the next write continues
/// with it.
struct Out {
    to: Option<MessageWriter>,
    bytes: Vec<u8>,
    written: usize,
    end: CancellationToken,
}

impl Out {
    async fn flush(&mut self) -> io::Result<()> {
        let written = self.write().await;
        if written.is_err() {
            // The client has closed its end.
            self.end.cancel();
        }
        written
    }

    async fn write(&mut self) -> io::Result<()> {
        let Some(to) = &mut self.to else { return Err(io::ErrorKind::NotConnected.into()) };
        while self.written < self.bytes.len() {
            let wrote = to.write(&self.bytes[self.written..]).await?;
            if wrote == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.written += wrote;
        }
        self.bytes.clear();
        self.written = 0;
        to.flush().await
    }
}
