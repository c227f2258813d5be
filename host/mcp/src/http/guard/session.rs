//! Checks the session of a request: a principal can only use its own sessions.

use super::body::Asks;
use crate::http::carried::carry;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use crate::http::sessions::{Full, SessionUse, Sessions};
use crate::identity::TransportIdentity;
use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Method, StatusCode};
use portcullis::policy::Principal;
use std::sync::Arc;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The first version without sessions. Versions are dates, and compare as text.
const WITHOUT_SESSIONS: &str = "2026-07-28";
/// Seconds after which a client that could not begin a session may retry.
const RETRY_SECONDS: u32 = 5;

/// Passes on requests without a session, or with a session of their principal, and counts new sessions. Another
/// principal's session looks like one that does not exist.
pub(crate) async fn own_session(
    State(sessions): State<Arc<Sessions>>,
    Extension(identity): Extension<TransportIdentity>,
    mut request: Request,
    next: Next,
) -> Response {
    if is_without_sessions(request.headers()) {
        request.headers_mut().remove(SESSION);
    }
    let mut written = request.headers().get_all(SESSION).iter();
    match (written.next(), written.next()) {
        (None, _) => match request.extensions().get::<Asks>() {
            Some(Asks::Initialize) => begin(&sessions, &identity.principal, request, next).await,
            Some(Asks::Calls(_) | Asks::Listen | Asks::Other) | None => next.run(request).await,
        },
        (Some(id), None) => match id.to_str().map(str::to_owned) {
            Ok(id) => go_on(&sessions, &identity.principal, &id, request, next).await,
            Err(_) => not_found().into_response(),
        },
        (Some(_), Some(_)) => {
            let message = "Bad Request: a request can name only one session";
            HttpRefusalReply::new(StatusCode::BAD_REQUEST, RefusalReason::Session, message).into_response()
        }
    }
}

async fn begin(sessions: &Arc<Sessions>, principal: &Principal, request: Request, next: Next) -> Response {
    let place = match sessions.begin(principal).await {
        Ok(place) => place,
        Err(full) => return no_room(full).into_response(),
    };
    let response = next.run(request).await;
    // The client learns the id from this response, so no request can have used it before it gets its owner here.
    if let Some(id) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
        place.began(id);
    }
    response
}

async fn go_on(sessions: &Arc<Sessions>, principal: &Principal, id: &str, request: Request, next: Next) -> Response {
    let (what, ends) = match *request.method() {
        Method::GET => (SessionUse::Stream, false),
        Method::DELETE => (SessionUse::Request, true),
        _ => (SessionUse::Request, false),
    };
    let Some(using) = sessions.open(id, principal, what) else { return not_found().into_response() };
    let mut response = next.run(request).await;
    if ends && response.status().is_success() {
        sessions.forget(id);
        // The library answers 202, as if the session had not ended yet.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    carry(response, using)
}

fn is_without_sessions(headers: &HeaderMap) -> bool {
    let version = headers.get(VERSION).and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version >= WITHOUT_SESSIONS)
}

/// Returns the same refusal for a session that ended, for another principal's session, and for an unknown one.
fn not_found() -> HttpRefusalReply {
    HttpRefusalReply::new(StatusCode::NOT_FOUND, RefusalReason::Session, "Not Found: Session not found")
}

fn no_room(full: Full) -> HttpRefusalReply {
    let (status, message) = match full {
        Full::Own => (StatusCode::TOO_MANY_REQUESTS, "Too Many Requests: all your sessions are in use; end one first"),
        Full::All => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable: too many sessions; try again later"),
    };
    HttpRefusalReply::new(status, RefusalReason::SessionsFull, message).after(RETRY_SECONDS)
}
