//! Checks the host name that a browser used for the console. It stops DNS rebinding: a page whose own name resolves to
//! this address sends that name.

use crate::refusal::refusal;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::StatusCode;
use http::header::HOST;
use std::net::SocketAddr;
use std::sync::Arc;

/// The one name of the console: the address that it is bound to, with its port.
#[derive(Debug)]
pub(crate) struct OwnHost {
    /// The name as in a `Host` header.
    pub(crate) name: String,
    /// The origin as in an `Origin` header.
    pub(crate) origin: String,
    /// The port.
    pub(crate) port: u16,
}

impl OwnHost {
    pub(crate) fn new(bound: SocketAddr) -> Self {
        // Formats as `127.0.0.1:8080`, which is also how a URL has it.
        let name = bound.to_string();
        Self { origin: format!("http://{name}"), name, port: bound.port() }
    }
}

/// Passes on requests that name the console: exactly one `Host` header, and no other host in the target.
pub(crate) async fn known_host(State(own): State<Arc<OwnHost>>, request: Request, next: Next) -> Response {
    let mut written = request.headers().get_all(HOST).iter();
    let one = written.next().filter(|_| written.next().is_none());
    let target = request.uri().authority().is_none_or(|authority| authority.as_str() == own.name);
    if target && one.is_some_and(|host| host.as_bytes() == own.name.as_bytes()) {
        return next.run(request).await;
    }
    let why = "The Host header does not name this console. Use the link that `portcullis console` printed.";
    refusal(StatusCode::MISDIRECTED_REQUEST, "Wrong address", why)
}
