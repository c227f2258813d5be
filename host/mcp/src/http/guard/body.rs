//! The body of a request: read whole, as far as it may be long, in the time that it may take.

use crate::http::carried::carry;
use crate::http::refusal::Refusal;
use crate::judge::{Judged, judge};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The most bytes of all the bodies that are held at one time, those of calls that wait included. A longer one waits
/// for its room as long as it may take to come.
const BODIES_BYTES_MAX: usize = 64 * 1024 * 1024;
/// In how large pieces that room is given out, in bytes.
const ROOM_BYTES: usize = 1024;
/// After how many seconds a client for whom there was no room may try again.
const RETRY_SECONDS: u32 = 2;

/// How large a body may be, and how long it may take.
#[derive(Debug)]
pub(crate) struct BodyRules {
    bytes: usize,
    time: Duration,
    room: Arc<Semaphore>,
}

impl BodyRules {
    pub(crate) fn new(bytes: usize, time: Duration) -> Self {
        Self { bytes, time, room: Arc::new(Semaphore::new(BODIES_BYTES_MAX / ROOM_BYTES)) }
    }

    /// Reads a body. What is returned beside it is its room.
    async fn read(&self, headers: &HeaderMap, body: Body) -> Result<(Bytes, OwnedSemaphorePermit), Refusal> {
        let announced = headers.get(CONTENT_LENGTH).map(|length| length.to_str().ok()?.parse::<usize>().ok());
        let bytes = match announced {
            Some(Some(bytes)) if bytes <= self.bytes => bytes,
            Some(Some(_)) => return Err(too_large()),
            Some(None) => return Err(Refusal::new(StatusCode::BAD_REQUEST, "Bad Request: no such Content-Length")),
            None => self.bytes,
        };
        let pieces = u32::try_from(pieces(bytes)).unwrap_or(u32::MAX);
        let mut room = Arc::clone(&self.room).acquire_many_owned(pieces).await.map_err(|_| too_slow())?;
        match Limited::new(body, self.bytes).collect().await {
            Ok(collected) => {
                let bytes = collected.to_bytes();
                // What was taken for a body of unknown length, and is not needed.
                drop(room.split(room.num_permits().saturating_sub(self::pieces(bytes.len()))));
                Ok((bytes, room))
            }
            Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
            Err(_) => Err(Refusal::new(StatusCode::BAD_REQUEST, "Bad Request: the body broke off")),
        }
    }
}

/// The room that a body takes; some also for none.
fn pieces(bytes: usize) -> usize {
    bytes / ROOM_BYTES + 1
}

fn too_large() -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large: no tool takes arguments of this size")
}

fn too_slow() -> Refusal {
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "Request Timeout: the body took too long").after(RETRY_SECONDS)
}

/// What a message asks for, as far as the guards treat it in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// To run a tool.
    Call,
    /// For a stream that stays.
    Listen,
    /// For a session.
    Initialize,
    /// For something else.
    Other,
}

impl Asks {
    fn of(message: &ClientJsonRpcMessage) -> Self {
        let JsonRpcMessage::Request(request) = message else { return Self::Other };
        match request.request.method() {
            "tools/call" => Self::Call,
            "subscriptions/listen" => Self::Listen,
            "initialize" => Self::Initialize,
            _ => Self::Other,
        }
    }
}

/// Judges a body as a line is judged over pipes: it is one message, which no two readers understand differently.
fn message(bytes: &[u8]) -> Result<Asks, (Option<RequestId>, ErrorData)> {
    match judge(bytes) {
        Judged::Message(message) => Ok(Asks::of(&message)),
        Judged::Refused(id, error) => Err((id, error)),
        Judged::Ignored if bytes.is_empty() => Err((None, ErrorData::parse_error("the message is empty", None))),
        Judged::Ignored => Err((None, ErrorData::invalid_request("the message is not usable", None))),
    }
}

fn refused(id: Option<RequestId>, error: ErrorData) -> Response {
    // An error always has JSON. Without one the status would still say what is wrong.
    let body = serde_json::to_vec(&ServerJsonRpcMessage::error(error, id)).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Reads the body of a message before anything looks at it. Other requests have none that anybody wants.
pub(crate) async fn read_body(State(rules): State<Arc<BodyRules>>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request.map(|_| Body::empty())).await;
    }
    let (parts, body) = request.into_parts();
    let read = timeout(rules.time, rules.read(&parts.headers, body)).await;
    match read.unwrap_or_else(|_| Err(too_slow())) {
        Ok((bytes, room)) => match message(&bytes) {
            Ok(asks) => {
                let mut request = Request::from_parts(parts, Body::from(bytes));
                request.extensions_mut().insert(asks);
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

    #[test]
    fn a_body_is_told_by_its_method_and_what_is_no_message_asks_for_nothing() {
        let rows: [(&str, Option<Asks>); 14] = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#, Some(Asks::Call)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":1}"#, None),
            (r#" {"jsonrpc":"2.0","id":1,"method":"tools\/call"}"#, Some(Asks::Call)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools\u002fcall"}"#, Some(Asks::Call)),
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
            assert_eq!(message(text.as_bytes()).ok(), asks, "{text}");
        }
    }
}
