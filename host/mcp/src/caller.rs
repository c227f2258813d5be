//! Who calls: the principal and the session of a request.

use crate::identity::Identity;
use crate::server::Server;
use portcullis::outputs::Reader;
use portcullis::policy::Principal;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The header that names a session of the handshake era.
const SESSION_HEADER: &str = "mcp-session-id";

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
            (Session::Said(session), _) => Arc::clone(session),
            (Session::Process(id), None) => Arc::from(format!("stdio-{id}")),
            (Session::Process(id), Some(parts)) => of_http(id, &principal, parts),
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
    /// One for each client, derived from a random id of this process.
    Process(Arc<str>),
}

/// Returns the session of a request over HTTP. A request without a session belongs to its principal's session with this
/// process, so the principal's next request, and no other principal's, can read the outputs that it keeps.
fn of_http(process: &str, principal: &Principal, parts: &http::request::Parts) -> Arc<str> {
    // The id of a session works like a password for it, so the audit log gets only a part of its digest.
    let digest = match parts.headers.get(SESSION_HEADER) {
        Some(id) => Sha256::digest(id.as_bytes()),
        // A principal cannot contain a NUL, so no two pairs give the same text.
        None => Sha256::digest(format!("{process}\0{principal}").as_bytes()),
    };
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Arc::from(format!("http-{digits}"))
}
