//! What stands in the address of a request is written into logs and histories: nothing of ours does.

use crate::http::refusal::Refusal;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

/// Refuses a query, of whatever kind: the protocol has none, and a token in one would be there for everybody to read.
pub(crate) async fn no_query(request: Request, next: Next) -> Response {
    if request.uri().query().is_none() {
        return next.run(request).await;
    }
    let message = "Bad Request: there is nothing to say in the query; a token belongs in the Authorization header";
    Refusal::new(StatusCode::BAD_REQUEST, message).into_response()
}
