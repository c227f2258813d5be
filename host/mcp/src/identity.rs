//! The identity of a client, as its transport established it.

use portcullis::policy::Principal;
use rmcp::model::Extensions;

/// The identity of a client. The HTTP transport adds one to the extensions of every request before the protocol sees
/// it.
#[derive(Clone, Debug)]
pub(crate) struct TransportIdentity {
    /// The principal on whose behalf the client calls.
    pub(crate) principal: Principal,
}

impl TransportIdentity {
    /// Returns the identity of the client that sent a message with these extensions. `None` if its transport
    /// establishes none.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        let parts = extensions.get::<http::request::Parts>();
        // A message that the host sends in place of a client has no HTTP request.
        parts.and_then(|parts| parts.extensions.get::<Self>()).or_else(|| extensions.get::<Self>())
    }
}
