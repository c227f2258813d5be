//! The identity of a client, as its transport established it.

use portcullis::policy::Principal;

/// The identity of a client. The HTTP transport adds one to the extensions of every request before the protocol sees
/// it.
#[derive(Clone, Debug)]
pub(crate) struct TransportIdentity {
    /// The principal on whose behalf the client calls.
    pub(crate) principal: Principal,
}
