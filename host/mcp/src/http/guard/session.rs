//! Checks the session of a request: a principal can only use its own sessions.

use super::body::Asks;
use crate::http::carried::carry;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use crate::http::replicas::{Relayed, Replicas, Unserved, parameters};
use crate::http::session_instances::StreamPlace;
use crate::http::sessions::{Full, SessionUse, Sessions};
use crate::http::shared_meaning::SharedMeaning;
use crate::identity::TransportIdentity;
use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Method, StatusCode};
use portcullis::policy::Principal;
use std::sync::Arc;

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const VERSION: &str = "mcp-protocol-version";
/// The first version without sessions. Versions are dates, and compare as text.
const WITHOUT_SESSIONS: &str = "2026-07-28";
/// Seconds after which a client that could not begin a session may retry.
const RETRY_SECONDS: u32 = 5;
/// Seconds after which a client may ask again for a stream that is on another host. The next request may reach it.
const RESUME_SECONDS: u32 = 1;

/// The sessions in this process, and the hosts that share them.
pub(crate) struct SessionGuard {
    pub(crate) sessions: Arc<Sessions>,
    /// `None` if no other host can serve the sessions.
    pub(crate) replicas: Option<Arc<Replicas>>,
}

/// Passes on requests without a session, or with a session of their principal, and counts new sessions. Another
/// principal's session looks like one that does not exist.
pub(crate) async fn own_session(
    State(guard): State<Arc<SessionGuard>>,
    Extension(identity): Extension<TransportIdentity>,
    mut request: Request,
    next: Next,
) -> Response {
    if is_without_sessions(request.headers()) {
        // No guard checks the owner of this id, and `McpCaller` would derive the session of the call from it.
        request.headers_mut().remove(SESSION);
    }
    let mut written = request.headers().get_all(SESSION).iter();
    match (written.next(), written.next()) {
        (None, _) => match request.extensions().get::<Asks>() {
            Some(Asks::Initialize) => begin(&guard, &identity.principal, request, next).await,
            Some(Asks::Calls(_) | Asks::Listen | Asks::Other) | None => next.run(request).await,
        },
        (Some(id), None) => match (id.to_str().map(str::to_owned), &guard.replicas) {
            (Ok(id), None) => go_on(&guard.sessions, &identity.principal, &id, request, next).await,
            (Ok(id), Some(replicas)) => {
                let gone_on = go_on_anywhere(replicas, &identity.principal, &id, request, next).await;
                gone_on.unwrap_or_else(|unserved| refusal_of(unserved).into_response())
            }
            (Err(_), _) => not_found().into_response(),
        },
        (Some(_), Some(_)) => {
            let message = "Bad Request: a request can name only one session";
            HttpRefusalReply::new(StatusCode::BAD_REQUEST, RefusalReason::Session, message).into_response()
        }
    }
}

async fn begin(guard: &SessionGuard, principal: &Principal, request: Request, next: Next) -> Response {
    // Before the library begins the session, so that simultaneous requests cannot exceed the limit.
    let place = match guard.sessions.begin(principal).await {
        Ok(place) => place,
        Err(full) => return no_room(full).into_response(),
    };
    let meaning = request.extensions().get::<SharedMeaning>().cloned();
    let response = next.run(request).await;
    // The client learns the id from this response, so no request can have used it before it gets its owner here.
    let Some(id) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) else { return response };
    if let Some(replicas) = &guard.replicas {
        let added = match parameters(meaning.as_ref()) {
            Ok(parameters) => replicas.add(id, principal, parameters).await,
            Err(unserved) => Err(unserved),
        };
        if let Err(unserved) = added {
            // The library has begun a session that no other host could continue.
            guard.sessions.close(&id.into()).await;
            return refusal_of(unserved).into_response();
        }
    }
    place.began(id);
    response
}

async fn go_on(sessions: &Arc<Sessions>, principal: &Principal, id: &str, request: Request, next: Next) -> Response {
    let (what, ends) = use_of(request.method());
    let Some(using) = sessions.open(id, principal, what) else { return not_found().into_response() };
    let mut response = next.run(request).await;
    if ends && response.status().is_success() {
        sessions.forget(id);
        // The library answers 202, as if the session had not ended yet.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    carry(response, using)
}

/// Serves a request of a session that other hosts serve too.
async fn go_on_anywhere(
    replicas: &Arc<Replicas>,
    principal: &Principal,
    id: &str,
    request: Request,
    next: Next,
) -> Result<Response, Unserved> {
    let (what, ends) = use_of(request.method());
    if ends {
        replicas.end(id, principal).await?;
        // The instance here has ended with the session. The library only makes the response.
        let mut response = next.run(request).await;
        if response.status().is_success() {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        return Ok(response);
    }
    let using = replicas.open(id, principal, what).await?;
    if let Some(event) = request.headers().get(LAST_EVENT).and_then(|event| event.to_str().ok())
        && let Some(refusal) = refusal_to_resume(replicas.stream_place(id, event))
    {
        return Ok(refusal.into_response());
    }
    if let Some(meaning) = request.extensions().get::<SharedMeaning>() {
        match replicas.relay((id, principal), meaning).await? {
            // The specification has a server answer 202 to a response.
            Relayed::Away => return Ok(StatusCode::ACCEPTED.into_response()),
            Relayed::Here => {}
        }
    }
    let response = next.run(request).await;
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR && !replicas.has(id, principal) {
        // Another host ended the session meanwhile.
        return Err(Unserved::Unknown);
    }
    Ok(carry(response, using))
}

/// Returns how a method uses a session, and whether it ends it.
fn use_of(method: &Method) -> (SessionUse, bool) {
    match *method {
        Method::GET => (SessionUse::Stream, false),
        Method::DELETE => (SessionUse::Request, true),
        _ => (SessionUse::Request, false),
    }
}

fn is_without_sessions(headers: &HeaderMap) -> bool {
    let version = headers.get(VERSION).and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version >= WITHOUT_SESSIONS)
}

/// Returns the same refusal for a session that ended, for another principal's session, and for an unknown one.
fn not_found() -> HttpRefusalReply {
    HttpRefusalReply::new(StatusCode::NOT_FOUND, RefusalReason::Session, "Not Found: Session not found")
}

/// Returns the refusal of a request of a session that hosts share.
fn refusal_of(unserved: Unserved) -> HttpRefusalReply {
    let store = |message| {
        HttpRefusalReply::new(StatusCode::SERVICE_UNAVAILABLE, RefusalReason::SessionStore, message)
            .after(RETRY_SECONDS)
    };
    match unserved {
        Unserved::Unknown => not_found(),
        Unserved::Full(full) => no_room(full),
        Unserved::Unreachable => {
            store("Service Unavailable: the database of the sessions cannot be reached; the session remains, try again")
        }
        Unserved::Crowded => {
            store("Service Unavailable: too many messages to other hosts; the message had no effect, try again")
        }
        Unserved::TooLarge => {
            let message = "Payload Too Large: hosts that share sessions do not accept a message of this kind so large";
            HttpRefusalReply::new(StatusCode::PAYLOAD_TOO_LARGE, RefusalReason::BodyTooLarge, message)
        }
    }
}

/// Returns the refusal to resume a stream that is not here. An empty stream would look as if nothing was lost.
fn refusal_to_resume(place: StreamPlace) -> Option<HttpRefusalReply> {
    match place {
        StreamPlace::Here => None,
        StreamPlace::Elsewhere => {
            let message = "Service Unavailable: this stream is on another host; try again, or with session affinity";
            let (status, reason) = (StatusCode::SERVICE_UNAVAILABLE, RefusalReason::StreamElsewhere);
            Some(HttpRefusalReply::new(status, reason, message).after(RESUME_SECONDS))
        }
        StreamPlace::Ended => {
            let message = "Gone: this stream has ended, and what it had not sent is lost";
            Some(HttpRefusalReply::new(StatusCode::GONE, RefusalReason::StreamElsewhere, message))
        }
    }
}

fn no_room(full: Full) -> HttpRefusalReply {
    let (status, message) = match full {
        Full::Own => (StatusCode::TOO_MANY_REQUESTS, "Too Many Requests: all your sessions are in use; end one first"),
        Full::All => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable: too many sessions; try again later"),
    };
    HttpRefusalReply::new(status, RefusalReason::SessionsFull, message).after(RETRY_SECONDS)
}
