//! The response to a request that a guard refuses.
//!
//! The text is fixed. It never quotes the request.

use super::refusal_reason::RefusalReason;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};

/// The response of a guard that refuses a request. It also closes the connection.
#[derive(Clone, Debug)]
pub(crate) struct HttpRefusalReply {
    status: StatusCode,
    reason: RefusalReason,
    message: &'static str,
    challenge: Option<HeaderValue>,
    retry_after: Option<u32>,
}

impl HttpRefusalReply {
    pub(crate) fn new(status: StatusCode, reason: RefusalReason, message: &'static str) -> Self {
        Self { status, reason, message, challenge: None, retry_after: None }
    }

    /// Adds a challenge, which says how to authorize a request.
    pub(crate) fn challenging(mut self, challenge: HeaderValue) -> Self {
        self.challenge = Some(challenge);
        self
    }

    /// Adds the number of seconds after which the client may retry.
    pub(crate) fn after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

impl IntoResponse for HttpRefusalReply {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.message));
        *response.status_mut() = self.status;
        response.extensions_mut().insert(self.reason);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if let Some(challenge) = self.challenge {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
