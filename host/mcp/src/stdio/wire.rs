//! Messages in and out, one a line, for the protocol's library.

use super::lines::{LINE_BYTES_MAX, Line, Lines};
use super::streams::{Input, Output};
use crate::judge::{Judged, judge};
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

/// Requests that may run at one time: more than any client makes, and each costs a task.
const REQUESTS_MAX: usize = 4096;

/// How long what was asked for before the client closed its end may go on: enough for what is written by a script
/// that wants its answers, and short for a client that is gone.
const FAREWELL: Duration = Duration::from_millis(500);

/// The transport of one client.
pub(super) struct Wire {
    lines: Lines<Input>,
    out: Arc<tokio::sync::Mutex<Out>>,
    running: Arc<Mutex<HashSet<RequestId>>>,
    /// The answer to a line that was no message, while it is not yet with the output.
    refusal: Option<Vec<u8>>,
    /// Whether the output may hold back some of a refusal.
    unflushed: bool,
    /// Whether the library is past the client's first words, before which it gives up on anything but a request.
    begun: bool,
    end: CancellationToken,
}

impl Wire {
    /// A transport that cancels everything through `end` when the client is gone.
    pub(super) fn new(input: Input, output: Output, end: CancellationToken) -> Self {
        let out = Out { to: Some(output), bytes: Vec::new(), written: 0, end: end.clone() };
        Self {
            lines: Lines::new(input, LINE_BYTES_MAX),
            out: Arc::new(tokio::sync::Mutex::new(out)),
            running: Arc::default(),
            refusal: None,
            unflushed: false,
            begun: false,
            end,
        }
    }

    fn refuse(&mut self, id: Option<RequestId>, error: ErrorData) {
        self.refusal = encode(&ServerJsonRpcMessage::error(error, id)).ok();
    }

    /// Writes the refusal. Dropping the future loses nothing.
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

    /// Lets a message through where it may be looked at.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                self.begun |= begins(&request.request);
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                let full = running.len() >= REQUESTS_MAX;
                if !full && running.insert(request.id.clone()) {
                    return Some(message);
                }
                drop(running);
                let error = match full {
                    true => ErrorData::internal_error("too many requests run at once; wait for some of them", None),
                    false => ErrorData::invalid_request("a request of this id runs already", None),
                };
                self.refuse(Some(request.id.clone()), error);
                None
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // No answer follows.
                    forget(&self.running, id);
                }
                self.begun.then_some(message)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => self.begun.then_some(message),
        }
    }

    /// Nothing more comes. What runs is given a moment, then cancelled.
    fn close_input(&self) {
        let end = self.end.clone();
        tokio::spawn(async move {
            tokio::time::sleep(FAREWELL).await;
            end.cancel();
        });
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (out, running) = (Arc::clone(&self.out), Arc::clone(&self.running));
        async move {
            // Before it is written: who has the answer may use its id again at once.
            if let Some(id) = answered(&item) {
                forget(&running, id);
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
                Ok(Line::Whole(line)) => match judge(&line) {
                    Judged::Message(message) => match self.admit(*message) {
                        Some(message) => return Some(message),
                        None => continue,
                    },
                    Judged::Refused(id, error) => self.refuse(id, error),
                    Judged::Ignored => {}
                },
                Ok(Line::TooLong) => {
                    let message = format!("the message is longer than {LINE_BYTES_MAX} bytes");
                    self.refuse(None, ErrorData::invalid_request(message, None));
                }
                Ok(Line::End) | Err(_) => {
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

/// Whether a request is one of those with which a session of either era begins.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().protocol_version().is_some(),
    }
}

/// The request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

fn forget(running: &Mutex<HashSet<RequestId>>, id: &RequestId) {
    running.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
}

/// A message as its line. No line end can stand inside of it: JSON escapes them.
fn encode(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// What is on its way to the client. A writer that is dropped in the middle of a line leaves the rest of it here, and
/// the next one begins with that.
struct Out {
    to: Option<Output>,
    bytes: Vec<u8>,
    written: usize,
    end: CancellationToken,
}

impl Out {
    async fn flush(&mut self) -> io::Result<()> {
        let written = self.write().await;
        if written.is_err() {
            // Nobody reads any more.
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
