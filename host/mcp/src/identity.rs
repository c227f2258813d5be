//! Who a transport says that the client is.

use portcullis::policy::Principal;

/// What the transport found out of the client, before the protocol is spoken. The HTTP transport puts one into the
/// extensions of every request.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// On whose behalf it calls.
    pub(crate) principal: Principal,
}
