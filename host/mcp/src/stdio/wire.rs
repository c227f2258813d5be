//! The transport for the protocol library: messages in and out, one per line.

use super::in_flight::{InFlight, NotLetIn, REQUESTS_MAX};
use super::lines::{InputLine, LINE_BYTES_MAX, LineReader};
use super::output::{ClientOutput, WAITING_BYTES_MAX, encode};
use super::streams::Input;
use super::tool_calls::{CallSession, ToolCalls};
use crate::judge::{Judged, judge};
use crate::rpc_error;
use crate::stopping::TransportStop;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, JsonRpcRequest, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::future::{Future, ready};
use std::io;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum time for calls to end after the session was cancelled: as long as the library waits for its own requests.
const CALLS_END_TIME_MAX: Duration = Duration::from_secs(2);

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
    output: ClientOutput,
    in_flight: InFlight,
    calls: ToolCalls,
    /// Whether the response to an invalid message may still wait to be written. The next message is read after it, so
    /// that a client which reads nothing cannot make such responses pile up.
    refused: bool,
    /// Whether the session has begun. Until then, the library fails on anything but a request.
    begun: bool,
    /// Whether the input has ended.
    ended: bool,
    farewell: TransportEnd,
}

impl Wire {
    /// Creates a transport that ends the session when the client disconnects.
    pub(super) fn new(input: Input, output: ClientOutput, session: CallSession, farewell: TransportEnd) -> Self {
        let in_flight = farewell.in_flight.clone();
        Self {
            lines: LineReader::new(input, LINE_BYTES_MAX),
            calls: ToolCalls::new(session, in_flight.clone(), output.clone()),
            output,
            in_flight,
            refused: false,
            begun: false,
            ended: false,
            farewell,
        }
    }

    /// Answers an invalid message.
    ///
    /// # Errors
    /// The client has closed its end.
    fn refuse(&mut self, id: Option<RequestId>, error: ErrorData) -> io::Result<()> {
        self.refused = true;
        self.output.push(&encode(&ServerJsonRpcMessage::error(error, id))?)
    }

    /// Waits until the client has room for more output. This is cancel safe.
    async fn room(&mut self) {
        let room = self.output.has_room(if self.refused { 1 } else { WAITING_BYTES_MAX });
        beside(&mut self.calls, room).await;
        self.refused = false;
    }

    /// Reads the next line. Calls that were read begin before it waits for one. This is cancel safe.
    async fn next_line(&mut self) -> io::Result<InputLine> {
        if !self.calls.is_empty() && !self.lines.has_next() {
            self.calls.begin();
        }
        beside(&mut self.calls, self.lines.next()).await
    }

    /// Takes a message. Returns it if the library processes it.
    ///
    /// # Errors
    /// The message is refused, and the client has closed its end.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> io::Result<Option<ClientJsonRpcMessage>> {
        match message {
            JsonRpcMessage::Request(request) => self.admit_request(request),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // This cancels only calls of this transport. The library gets the notification for its own
                    // requests.
                    self.in_flight.cancel(id);
                }
                Ok(self.begun.then_some(JsonRpcMessage::Notification(notification)))
            }
            message @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => Ok(self.begun.then_some(message)),
        }
    }

    fn admit_request(&mut self, request: JsonRpcRequest<ClientRequest>) -> io::Result<Option<ClientJsonRpcMessage>> {
        self.begun |= begins(&request.request);
        let JsonRpcRequest { id, request, .. } = request;
        let request = match request {
            ClientRequest::CallToolRequest(call) => match self.calls.add(&id, call) {
                Ok(None) => return Ok(None),
                Ok(Some(call)) => ClientRequest::CallToolRequest(call),
                Err(not_let_in) => return self.keep_out(id, not_let_in),
            },
            other => other,
        };
        match self.in_flight.begin(&id) {
            Ok(()) => Ok(Some(ClientJsonRpcMessage::request(request, id))),
            Err(not_let_in) => self.keep_out(id, not_let_in),
        }
    }

    fn keep_out(&mut self, id: RequestId, not_let_in: NotLetIn) -> io::Result<Option<ClientJsonRpcMessage>> {
        let error = match not_let_in {
            NotLetIn::Full => rpc_error::limit_exceeded(format!(
                "{REQUESTS_MAX} requests are in flight, and there can be no more: send this one again after a \
                 response, or cancel another one first"
            )),
            NotLetIn::Twice => ErrorData::invalid_request("a request with this id is in flight", None),
        };
        self.refuse(Some(id), error).map(|()| None)
    }

    /// Handles the end of the input: gives calls in flight a grace period and then cancels them. Waits until those of
    /// this transport have ended. This is cancel safe.
    async fn end_input(&mut self) {
        if !self.ended {
            self.ended = true;
            self.calls.begin();
            self.calls.release();
            let farewell = self.farewell.clone();
            tokio::spawn(async move { farewell.say().await });
        }
        self.in_flight.calls_ended().await;
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        // Remove the id before writing, because the client may reuse it as soon as it has the response.
        if let Some(id) = answered(&item) {
            self.in_flight.end(id);
        }
        ready(encode(&item).and_then(|line| self.output.push(&line)))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while !self.ended {
            self.room().await;
            let taken = match self.next_line().await {
                Ok(InputLine::Whole(line)) => match judge(&line) {
                    Judged::Message(message) => match self.admit(*message) {
                        Ok(Some(message)) => {
                            self.calls.begin();
                            return Some(message);
                        }
                        Ok(None) => Ok(()),
                        Err(error) => Err(error),
                    },
                    Judged::Refused(id, error) => self.refuse(id, error),
                    Judged::Ignored => Ok(()),
                },
                Ok(InputLine::TooLong) => {
                    let message = format!("the message is longer than {LINE_BYTES_MAX} bytes");
                    self.refuse(None, ErrorData::invalid_request(message, None))
                }
                Ok(InputLine::End) | Err(_) => break,
            };
            // The client has closed its end. `close` waits for the calls that still run.
            taken.ok()?;
        }
        self.end_input().await;
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // Calls that have not begun are cancelled, too.
        self.calls.begin();
        self.calls.release();
        if timeout(CALLS_END_TIME_MAX, self.in_flight.calls_ended()).await.is_err() {
            self.in_flight.cancel_calls();
        }
        self.output.close().await;
        Ok(())
    }
}

/// Waits for something, and lets the call that this task runs go on meanwhile. The call comes first, so that a client
/// that sends messages without a pause cannot hold it up.
async fn beside<T>(calls: &mut ToolCalls, work: impl Future<Output = T>) -> T {
    tokio::select! {
        biased;
        never = calls.go_on() => match never {},
        done = work => done,
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
