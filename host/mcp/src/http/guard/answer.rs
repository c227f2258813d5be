//! Security headers on every response: browsers must not render or cache it.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};

/// Adds headers that keep a browser from interpreting or caching a response. No header allows a page of another origin
/// to read it. Pages for people have set theirs already.
pub(crate) async fn seal(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let nothing = "default-src 'none'; frame-ancestors 'none'";
    for (name, value) in
        [(X_CONTENT_TYPE_OPTIONS, "nosniff"), (CONTENT_SECURITY_POLICY, nothing), (CACHE_CONTROL, "no-store")]
    {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
