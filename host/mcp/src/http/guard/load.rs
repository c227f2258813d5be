//! Limits the open requests of each principal.

use crate::http::carried::carry;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use crate::http::usage::{SlotUsage, UsageSlot};
use crate::identity::TransportIdentity;
use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use std::sync::Arc;

/// Seconds after which a client with too many open requests may retry.
const RETRY_SECONDS: u32 = 1;

/// Passes on requests while their principal is below its limits, and counts each until its response is sent.
pub(crate) async fn within_load(
    State(usage): State<Arc<SlotUsage>>,
    Extension(identity): Extension<TransportIdentity>,
    request: Request,
    next: Next,
) -> Response {
    // In the handshake era, a GET opens a long-lived stream.
    let stream = request.method() == Method::GET;
    let held = usage.hold(&identity.principal, UsageSlot::Request).and_then(|request| {
        let stream = if stream { Some(usage.hold(&identity.principal, UsageSlot::Stream)?) } else { None };
        Ok((request, stream))
    });
    match held {
        Ok(held) => carry(next.run(request).await, held),
        Err(_) => too_much_open().into_response(),
    }
}

/// Returns the refusal for a principal with too many open requests.
pub(super) fn too_much_open() -> HttpRefusalReply {
    let message = "Too Many Requests: too many open requests or streams; close some of them first";
    HttpRefusalReply::new(StatusCode::TOO_MANY_REQUESTS, RefusalReason::OpenRequests, message).after(RETRY_SECONDS)
}
