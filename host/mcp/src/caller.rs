//! The caller of a request: its principal and its session.

use crate::identity::TransportIdentity;
use crate::server::{Server, Session};
use data_encoding::HEXLOWER;
use portcullis::outputs::Reader;
use portcullis::policy::Principal;
use rmcp::RoleServer;
use rmcp::model::Extensions;
use rmcp::service::RequestContext;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The header with the session id in the handshake era.
const SESSION_HEADER: &str = "mcp-session-id";

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct McpCaller {
    /// The principal on whose behalf the client calls.
    pub(crate) principal: Principal,
    /// The session the call belongs to.
    pub(crate) session: Arc<str>,
}

impl McpCaller {
    /// Returns the caller of a request.
    pub(crate) fn of(server: &Server, cx: &RequestContext<RoleServer>) -> Self {
        let parts = cx.extensions.get::<http::request::Parts>();
        let principal = principal_of(server, &cx.extensions).clone();
        let session = match (&server.inner().session, parts) {
            (Session::Said(session), _) => Arc::clone(session),
            (Session::OfClient { pipes, .. }, None) => Arc::clone(pipes),
            (Session::OfClient { http, .. }, Some(parts)) => of_http(http, &principal, parts),
        };
        Self { principal, session }
    }

    /// Returns the caller as a reader of kept outputs.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { session: &self.session, principal: &self.principal }
    }
}

/// Returns the principal of the client that sent a message with these extensions: the operator's, unless the transport
/// established another one.
pub(crate) fn principal_of<'p>(server: &'p Server, extensions: &'p Extensions) -> &'p Principal {
    TransportIdentity::of(extensions).map_or(&server.inner().options.principal, |identity| &identity.principal)
}

/// Returns the session of a request over HTTP. Requests without a session share one session per principal, so that a
/// principal's later requests can read its kept outputs, and other principals cannot.
fn of_http(server: &str, principal: &Principal, parts: &http::request::Parts) -> Arc<str> {
    // A session id works like a password for the session, so the audit log gets only a part of its digest.
    let digest = match parts.headers.get(SESSION_HEADER) {
        Some(id) => Sha256::digest(id.as_bytes()),
        // A principal cannot contain a NUL, so no two pairs produce the same text.
        None => Sha256::digest(format!("{server}\0{principal}").as_bytes()),
    };
    let digits = HEXLOWER.encode(&digest[..16]);
    Arc::from(format!("http-{digits}"))
}
