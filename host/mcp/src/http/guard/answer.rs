//! What every answer carries, whoever gives it: nothing here is a page, and nothing is kept.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};

/// Puts the headers on that keep a browser from making anything of an answer. There is no header that lets a page of
/// another origin read one.
pub(crate) async fn seal(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
