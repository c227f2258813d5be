//! How many requests one principal has open.

use crate::http::carried::carry;
use crate::http::refusal::Refusal;
use crate::http::usage::{Slot, Usage};
use crate::identity::Identity;
use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use std::sync::Arc;

/// After how many seconds a client that has too much open may try again.
const RETRY_SECONDS: u32 = 1;

/// Lets requests through while their principal has not too many open, and counts them until their answer is through.
pub(crate) async fn within_load(
    State(usage): State<Arc<Usage>>,
    Extension(identity): Extension<Identity>,
    request: Request,
    next: Next,
) -> Response {
    // In the era of sessions a GET opens a stream that stays.
    let stream = request.method() == Method::GET;
    let held = usage.hold(&identity.principal, Slot::Request).and_then(|request| {
        let stream = if stream { Some(usage.hold(&identity.principal, Slot::Stream)?) } else { None };
        Ok((request, stream))
    });
    match held {
        Ok(held) => carry(next.run(request).await, held),
        Err(_) => too_much_open().into_response(),
    }
}

/// The answer to who has too much open.
pub(super) fn too_much_open() -> Refusal {
    let message = "Too Many Requests: there are as many open as one client may have";
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, message).after(RETRY_SECONDS)
}
