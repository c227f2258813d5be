//! How many tool calls a principal may make: as the operator's options, the policy or the defaults say, in this order.

use super::options::{CALLS_BURST, CALLS_PER_SECOND, HttpLimits};
use portcullis::policy::ClientRate;

/// How many calls a principal may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallRate {
    /// Maximum average calls in a second.
    pub(crate) calls_per_second: u32,
    /// Maximum calls at once.
    pub(crate) burst: u32,
}

impl CallRate {
    /// Returns the rate under these options and this policy.
    pub(crate) fn of(limits: HttpLimits, policy: ClientRate) -> Self {
        Self {
            calls_per_second: limits.calls_per_second.unwrap_or_else(|| policy.calls_per_second(CALLS_PER_SECOND)),
            burst: limits.calls_burst.unwrap_or_else(|| policy.calls_burst(CALLS_BURST)),
        }
    }
}
