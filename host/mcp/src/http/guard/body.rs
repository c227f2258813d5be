//! The body of a request: read whole, as far as it may be long, in the time that it may take.

use crate::http::carried::carry;
use crate::http::refusal::Refusal;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use portcullis::parse_json;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
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
    /// That cannot be said: it counts as everything.
    Unclear,
}

impl Asks {
    /// Looks at the method of a message, and at nothing else of it.
    fn of(bytes: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Message<'a> {
            #[serde(borrow)]
            method: Option<Cow<'a, str>>,
        }
        let object = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let Some(message) = serde_json::from_slice::<Message<'_>>(bytes).ok().filter(|_| object) else {
            return Self::Unclear;
        };
        match message.method.as_deref() {
            Some("tools/call") => Self::Call,
            Some("subscriptions/listen") => Self::Listen,
            Some("initialize") => Self::Initialize,
            Some(_) | None => Self::Other,
        }
    }
}

/// Whether a body is JSON that two readers may take for two things: a key that comes twice, a number that would be
/// rounded, too deep a nesting. What is no JSON at all is answered by the protocol.
fn is_ambiguous(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    parse_json(text).is_err() && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn ambiguous() -> Refusal {
    let message = "Bad Request: a key of the message comes twice, a number cannot be exact, or it nests too deep";
    Refusal::new(StatusCode::BAD_REQUEST, message)
}

/// Reads the body of a message before anything looks at it. Other requests have none that anybody wants.
pub(crate) async fn read_body(State(rules): State<Arc<BodyRules>>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request.map(|_| Body::empty())).await;
    }
    let (parts, body) = request.into_parts();
    let read = timeout(rules.time, rules.read(&parts.headers, body)).await;
    match read.unwrap_or_else(|_| Err(too_slow())) {
        Ok((bytes, _)) if is_ambiguous(&bytes) => ambiguous().into_response(),
        Ok((bytes, room)) => {
            let asks = Asks::of(&bytes);
            let mut request = Request::from_parts(parts, Body::from(bytes));
            request.extensions_mut().insert(asks);
            carry(next.run(request).await, room)
        }
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_two_readers_may_take_for_two_things_is_ambiguous() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        for text in [r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#, "[18446744073709551616]", &deep] {
            assert!(is_ambiguous(text.as_bytes()), "{text}");
        }
        for text in [r#"{"a":1}"#, "[1,2.5]", "{", "", "nonsense"] {
            assert!(!is_ambiguous(text.as_bytes()), "{text}");
        }
        assert!(!is_ambiguous(b"\"\xff\""));
    }

    #[test]
    fn what_is_not_clearly_something_else_counts_as_a_call() {
        let rows: [(&[u8], Asks); 12] = [
            (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, Asks::Call),
            (br#" {"method":"tools\/call"}"#, Asks::Call),
            (br#"{"method":"tools\u002fcall"}"#, Asks::Call),
            (br#"{"method":"subscriptions/listen"}"#, Asks::Listen),
            (br#"{"method":"initialize"}"#, Asks::Initialize),
            (br#"{"method":"tools/list","params":{"method":"tools/call"}}"#, Asks::Other),
            (br#"{"result":{}}"#, Asks::Other),
            (br#"{"method":"ping","method":"tools/call"}"#, Asks::Unclear),
            (br#"["tools/call"]"#, Asks::Unclear),
            (br#"[{"method":"tools/call"}]"#, Asks::Unclear),
            (b"", Asks::Unclear),
            (br#"{"method":1}"#, Asks::Unclear),
        ];
        for (bytes, asks) in rows {
            assert_eq!(Asks::of(bytes), asks, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
