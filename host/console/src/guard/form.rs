//! Reads the form of a request that changes something, within limits, and checks its token.

use crate::limits::{FORM_BYTES_MAX, FORM_TIME};
use crate::query::PageQuery;
use crate::refusal::refusal;
use crate::session::ConsoleSession;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Limited};
use tokio::time::timeout;

/// The field with the token of the session.
const TOKEN_FIELD: &str = "csrf";

/// The fields of a form whose token was checked.
pub(crate) type ConsoleForm = PageQuery;

/// Reads the form of a POST request and passes it on if it carries the session's token. Drops the bodies of other
/// requests.
pub(crate) async fn read_form(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request.map(|_| axum::body::Body::empty())).await;
    }
    let (mut parts, body) = request.into_parts();
    if !is_form(&parts.headers) {
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Not a form", "The console accepts only its own forms.");
    }
    let Ok(read) = timeout(FORM_TIME, Limited::new(body, FORM_BYTES_MAX).collect()).await else {
        return refusal(StatusCode::REQUEST_TIMEOUT, "Too slow", "The form did not arrive in time. Send it again.");
    };
    let Ok(bytes) = read.map(http_body_util::Collected::to_bytes) else {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "Too long", "The form is too long.");
    };
    let form = ConsoleForm::parse(&bytes);
    // `signed_in` runs before this guard, so only a signed-in browser can make it read a form.
    let session = parts.extensions.get::<ConsoleSession>();
    if !session.is_some_and(|session| session.has_csrf(form.get(TOKEN_FIELD))) {
        let why = "The form is not of this session. Load the page again.";
        return refusal(StatusCode::FORBIDDEN, "Old form", why);
    }
    parts.extensions.insert(form);
    next.run(Request::from_parts(parts, axum::body::Body::empty())).await
}

fn is_form(headers: &HeaderMap) -> bool {
    let mut written = headers.get_all(CONTENT_TYPE).iter();
    let kind = written.next().filter(|_| written.next().is_none()).and_then(|kind| kind.to_str().ok());
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    kind.as_deref() == Some("application/x-www-form-urlencoded")
}
