//! Pages for people at the address of the server, such as the console. This crate does not know what they show.

use axum::Router;
use std::fmt;
use std::net::SocketAddr;

/// Makes the routes of pages, when the address of the server is known.
pub struct Pages(Box<dyn FnOnce(SocketAddr) -> Router + Send>);

impl Pages {
    /// Serves the routes that `router` returns beside the MCP endpoint. The server checks the `Host` header of each
    /// request. Everything else is left to the routes: who may see them, the origin of a request, its body, and the
    /// headers of responses.
    ///
    /// They must not include [`ENDPOINT`](super::ENDPOINT) or a path under `/.well-known/`.
    pub fn new(router: impl FnOnce(SocketAddr) -> Router + Send + 'static) -> Self {
        Self(Box::new(router))
    }

    pub(super) fn router(self, address: SocketAddr) -> Router {
        (self.0)(address)
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pages").finish_non_exhaustive()
    }
}
