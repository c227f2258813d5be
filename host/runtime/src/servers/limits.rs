//! The limits of a connection to a server.

use portcullis_policy::Limits;
use portcullis_upstream::ServerLimits;

/// Returns the limits of a connection. A result may be as large as what a plugin may pass to the host.
pub(super) fn limits(limits: &Limits) -> ServerLimits {
    ServerLimits { result_bytes: limits.transfer_bytes, ..ServerLimits::default() }
}
