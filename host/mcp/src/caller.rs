//! Who calls: the principal and the session of a request.

use crate::identity::Identity;
use crate::server::Server;
use portcullis::Reader;
use portcullis::policy::Principal;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The header that names a session of the handshake era.
const SESSION_HEADER: &str = "mcp-session-id";

/// The session of clients that have none: outputs that one request keeps are there for the next one of the principal.
const STATELESS_SESSION: &str = "http";

/// Who calls.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// On whose behalf.
    pub(crate) principal: Principal,
    /// The session the call belongs to.
    pub(crate) session: Arc<str>,
}

impl Caller {
    /// Who makes a request.
    pub(crate) fn of(server: &Server, cx: &RequestContext<RoleServer>) -> Self {
        let parts = cx.extensions.get::<http::request::Parts>();
        let identity = parts.and_then(|parts| parts.extensions.get::<Identity>());
        let principal = identity.map_or(&server.inner().options.principal, |identity| &identity.principal).clone();
        let session = match (&server.inner().session, parts) {
            (Session::Said(session), _) | (Session::Process(session), None) => Arc::clone(session),
            (Session::Process(_), Some(parts)) => of_http(parts),
        };
        Self { principal, session }
    }

    /// Who reads.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { session: &self.session, principal: &self.principal }
    }
}

/// The session of what comes without one of its own.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    /// The operator's.
    Said(Arc<str>),
    /// That of this process, where it is one client's.
    Process(Arc<str>),
}

/// The id of a session is as good as a password to it: what the record holds is a part of its digest.
fn of_http(parts: &http::request::Parts) -> Arc<str> {
    match parts.headers.get(SESSION_HEADER) {
        Some(id) => {
            let digest = Sha256::digest(id.as_bytes());
            let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            Arc::from(format!("http-{digits}"))
        }
        None => Arc::from(STATELESS_SESSION),
    }
}
