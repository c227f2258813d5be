//! What every connection to a server is opened with: its limits, and what replies outside of calls.

use portcullis_policy::{Limits, ServerPolicy, ServerQuestions};
use portcullis_upstream::{RefuseRequests, RequestKinds, ServerLimits, ServerRequests};
use std::sync::Arc;

/// Returns the limits of a connection. A result may be as large as what a plugin may pass to the host.
pub(super) fn limits(limits: &Limits) -> ServerLimits {
    ServerLimits { result_bytes: limits.transfer_bytes, ..ServerLimits::default() }
}

/// Returns what replies to a server outside of calls, and says what it may ask during calls.
pub(super) fn requests(policy: &ServerPolicy) -> Arc<dyn ServerRequests> {
    let elicitation = policy.questions() == ServerQuestions::Ask;
    Arc::new(RefuseRequests::outside_of_calls(RequestKinds { elicitation, ..RequestKinds::default() }))
}
