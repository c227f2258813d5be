//! Refuses requests to a server that is stopping, and ends its long-lived streams.

use super::body::Asks;
use crate::http::carried::end_when;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use tokio_util::sync::CancellationToken;

/// Passes on requests until the server stops, and then ends streams for notifications. The response of a call ends by
/// itself.
pub(crate) async fn while_serving(State(begun): State<CancellationToken>, request: Request, next: Next) -> Response {
    if begun.is_cancelled() {
        let (status, message) = (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable: the server is stopping");
        return HttpRefusalReply::new(status, RefusalReason::Stopping, message).into_response();
    }
    let listens = request.extensions().get::<Asks>() == Some(&Asks::Listen);
    let stays = listens || request.method() == Method::GET;
    let response = next.run(request).await;
    if stays && response.status().is_success() { end_when(response, begun.cancelled_owned()) } else { response }
}
