//! Refuses query strings, because the URLs of requests end up in logs and histories.

use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

/// Refuses any query string. The protocol uses none, and a token in a URL would be exposed in logs.
pub(crate) async fn no_query(request: Request, next: Next) -> Response {
    if request.uri().query().is_none() {
        return next.run(request).await;
    }
    let message = "Bad Request: the URL must not have a query; send the token in the Authorization header";
    HttpRefusalReply::new(StatusCode::BAD_REQUEST, RefusalReason::Query, message).into_response()
}
