//! Reads the whole body of a request, within a size limit and a timeout.

use crate::batched;
use crate::http::carried::carry;
use crate::http::options::ENVELOPE_BYTES;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use crate::http::shared_meaning::SharedMeaning;
use crate::identity::TransportIdentity;
use crate::judge::{Judged, judge};
use crate::principal_shares::{PrincipalShares, SharePermits};
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use portcullis::policy::Principal;
use portcullis::policy::limits::ARGUMENTS_CEILING_BYTES;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum bytes of all bodies at one time. A body counts until its response ends, because a call keeps its arguments
/// that long. A body that does not fit waits for room, at most until its timeout.
const BODIES_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum bytes of them for one principal. It is half, so that no principal can make the bodies of all others wait.
const BODIES_BYTES_PER_PRINCIPAL_MAX: usize = 32 * 1024 * 1024;
// The largest body that a policy can allow fits. Otherwise it would wait for room in vain.
const _: () = assert!(ARGUMENTS_CEILING_BYTES + ENVELOPE_BYTES < BODIES_BYTES_PER_PRINCIPAL_MAX);
/// Bytes per permit of that memory.
const ROOM_BYTES: usize = 1024;
/// Seconds after which a client whose request timed out may retry.
const RETRY_SECONDS: u32 = 2;

/// The limits for the size of a body and for the time to read it.
#[derive(Debug)]
pub(crate) struct BodyRules {
    bytes: usize,
    time: Duration,
    room: PrincipalShares,
}

impl BodyRules {
    pub(crate) fn new(bytes: usize, time: Duration) -> Self {
        let room = PrincipalShares::new(BODIES_BYTES_MAX / ROOM_BYTES, BODIES_BYTES_PER_PRINCIPAL_MAX / ROOM_BYTES);
        Self { bytes, time, room }
    }

    /// Reads a body of a principal. Also returns the permits for its memory.
    async fn read(
        &self,
        principal: &Principal,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Bytes, SharePermits), HttpRefusalReply> {
        let announced = headers.get(CONTENT_LENGTH).map(|length| length.to_str().ok()?.parse::<usize>().ok());
        let bytes = match announced {
            Some(Some(bytes)) if bytes <= self.bytes => bytes,
            Some(Some(_)) => return Err(too_large()),
            Some(None) => return Err(incomplete("Bad Request: invalid Content-Length")),
            None => self.bytes,
        };
        let pieces = u32::try_from(pieces(bytes)).unwrap_or(u32::MAX);
        // Before the first byte is read, so that a body that waits for room takes no memory.
        let mut room = self.room.acquire(principal, pieces).await.map_err(|_| too_slow())?;
        match Limited::new(body, self.bytes).collect().await {
            Ok(collected) => {
                let bytes = collected.to_bytes();
                // A body of unknown length took permits for the maximum. Give back those that it does not need.
                room.keep(self::pieces(bytes.len()));
                Ok((bytes, room))
            }
            Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
            Err(_) => Err(incomplete("Bad Request: the body is incomplete")),
        }
    }
}

/// Returns the permits for a body. Even an empty body takes one.
fn pieces(bytes: usize) -> usize {
    bytes / ROOM_BYTES + 1
}

fn too_large() -> HttpRefusalReply {
    let message = "Payload Too Large: no tool accepts arguments of this size";
    HttpRefusalReply::new(StatusCode::PAYLOAD_TOO_LARGE, RefusalReason::BodyTooLarge, message)
}

fn incomplete(message: &'static str) -> HttpRefusalReply {
    HttpRefusalReply::new(StatusCode::BAD_REQUEST, RefusalReason::BodyInvalid, message)
}

fn too_slow() -> HttpRefusalReply {
    let message = "Request Timeout: the body took too long to arrive";
    HttpRefusalReply::new(StatusCode::REQUEST_TIMEOUT, RefusalReason::BodyLate, message).after(RETRY_SECONDS)
}

/// The kind of a message, as far as the guards distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Tool calls: one, or as many as a batch makes.
    Calls(u32),
    /// A subscription, whose response is a long-lived stream.
    Listen,
    /// The beginning of a session.
    Initialize,
    /// Any other message.
    Other,
}

impl Asks {
    fn of(message: &ClientJsonRpcMessage) -> Self {
        let JsonRpcMessage::Request(request) = message else { return Self::Other };
        if let ClientRequest::CallToolRequest(call) = &request.request {
            return Self::Calls(batched::calls_of(&call.params));
        }
        match request.request.method() {
            // A call whose parameters the library does not recognise is a custom request, and counts all the same.
            "tools/call" => Self::Calls(1),
            "subscriptions/listen" => Self::Listen,
            "initialize" => Self::Initialize,
            _ => Self::Other,
        }
    }
}

/// Parses a body as the stdio transport parses a line: it must be one unambiguous message.
fn message(bytes: &[u8]) -> Result<ClientJsonRpcMessage, (Option<RequestId>, ErrorData)> {
    match judge(bytes) {
        Judged::Message(message) => Ok(*message),
        Judged::Refused(id, error) => Err((id, error)),
        Judged::Ignored if bytes.is_empty() => Err((None, ErrorData::parse_error("the message is empty", None))),
        Judged::Ignored => Err((None, ErrorData::invalid_request("the message is invalid", None))),
    }
}

fn refused(id: Option<RequestId>, error: ErrorData) -> Response {
    // Serializing an error cannot fail. If it did, the status would still say what is wrong.
    let body = serde_json::to_vec(&ServerJsonRpcMessage::error(error, id)).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.extensions_mut().insert(RefusalReason::Message);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Reads and checks the body of a POST request before later stages process it. Drops the bodies of other requests.
pub(crate) async fn read_body(
    State(rules): State<Arc<BodyRules>>,
    Extension(identity): Extension<TransportIdentity>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request.map(|_| Body::empty())).await;
    }
    let (parts, body) = request.into_parts();
    let read = timeout(rules.time, rules.read(&identity.principal, &parts.headers, body)).await;
    match read.unwrap_or_else(|_| Err(too_slow())) {
        Ok((bytes, room)) => match message(&bytes) {
            Ok(message) => {
                let (asks, meaning) = (Asks::of(&message), SharedMeaning::of(message, &bytes));
                // Not cloned, so that the text is freed as soon as the library has parsed it.
                let mut request = Request::from_parts(parts, Body::from(bytes));
                request.extensions_mut().insert(asks);
                if let Some(meaning) = meaning {
                    request.extensions_mut().insert(meaning);
                }
                // A call keeps its arguments until the response ends, and they are about as large as the text.
                carry(next.run(request).await, room)
            }
            Err((id, error)) => refused(id, error),
        },
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(text: &str) -> Option<Asks> {
        message(text.as_bytes()).ok().map(|message| Asks::of(&message))
    }

    #[test]
    fn the_method_of_a_message_determines_its_kind_and_an_invalid_message_has_none() {
        let rows: [(&str, Option<Asks>); 14] = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#, Some(Asks::Calls(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":1}"#, None),
            (r#" {"jsonrpc":"2.0","id":1,"method":"tools\/call"}"#, Some(Asks::Calls(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools\u002fcall"}"#, Some(Asks::Calls(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#, Some(Asks::Listen)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, Some(Asks::Initialize)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"method":"tools/call"}}"#, Some(Asks::Other)),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Some(Asks::Other)),
            (r#"{"jsonrpc":"2.0","method":"tools/call"}"#, Some(Asks::Other)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#, None),
            (r#"["tools/call"]"#, None),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]"#, None),
            ("", None),
            (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, None),
        ];
        for (text, asks) in rows {
            assert_eq!(self::asks(text), asks, "{text}");
        }
    }

    #[test]
    fn a_batch_asks_for_as_many_calls_as_it_has() {
        let rows = [
            (r#""tools__batch","arguments":{"calls":[1,2]}"#, 2),
            (r#""tools.batch","arguments":{"calls":[1,2,3]}"#, 3),
            (r#""tools.call","arguments":{"name":"tools.batch","arguments":{"calls":[1,2,3]}}"#, 3),
            (r#""tools__call","arguments":{"name":"other","arguments":{"calls":[1,2,3]}}"#, 1),
            (r#""tools.batch","arguments":{"calls":[]}"#, 1),
            (r#""tools.batch","arguments":{"calls":2}"#, 1),
            (r#""tools.batch""#, 1),
            (r#""other","arguments":{"calls":[1,2]}"#, 1),
        ];
        for (named, calls) in rows {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{named}}}}}"#);
            assert_eq!(asks(&text), Some(Asks::Calls(calls)), "{text}");
        }
    }
}
