//! The time for which the host keeps a call that outlives its request.

use crate::call::named::Named;
use crate::server::Server;
use std::time::Duration;

/// How long the result of a call is kept for its client to fetch, counted from the latest time at which the call can
/// end. A client polls every second, but its user may be away for some minutes.
const RESULT_KEPT: Duration = Duration::from_secs(300);

/// Returns the longest remaining time of a call of this tool, including the wait for an approver, and a while to fetch
/// the result.
pub(crate) fn lifetime(server: &Server, named: &Named) -> Duration {
    let limits = server.inner().host.policy().limits(named.plugin.name());
    limits.approval_time.saturating_add(limits.time).saturating_add(RESULT_KEPT)
}
