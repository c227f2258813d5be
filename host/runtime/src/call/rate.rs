//! Counts a call under the rate limits of the policy, or refuses it.

use super::record::CallRecord;
use super::rejection::Rejection;
use crate::admission::{CountedLimit, RateExceeded};
use crate::inner::HostState;
use crate::reply::Code;
use crate::request::Request;
use crate::valid_call::ValidCall;
use portcullis_policy::RateLimit;
use std::time::{Duration, Instant};

/// Proposed wait before a retry while as many calls as allowed are in progress. The host cannot know when one ends.
const IN_PROGRESS_RETRY_AFTER: Duration = Duration::from_secs(5);

impl ValidCall {
    /// Counts the call under each rate limit that applies to it, until its admission is over. A rehearsal only checks
    /// them. The policy has decided the call before, so that a denied call spends nothing.
    ///
    /// # Errors
    /// A limit is exceeded. The call then counts under none of them.
    pub(super) fn count_rate(&self, host: &HostState, request: &Request, record: &CallRecord) -> Result<(), Rejection> {
        let policy = &self.policy.policy;
        if policy.rate_limits().is_empty() {
            return Ok(());
        }
        let (tool, root) = (self.tool.name(), request.origin.principal.root());
        let limits: Vec<&RateLimit> = policy.rate_limits_of(tool, request.origin.caller()).collect();
        if limits.is_empty() {
            return Ok(());
        }
        let counted: Vec<CountedLimit> = limits.iter().map(|limit| CountedLimit::of(limit, &root, tool)).collect();
        let now = Instant::now();
        let taken = match record.is_rehearsal() {
            true => host.admissions.rate_counts.check(&counted, now),
            false => host.admissions.rate_counts.take(&counted, now).map(|call| request.admission.count(call)),
        };
        taken.map_err(|exceeded| refused(exceeded, &limits))
    }
}

fn refused(exceeded: RateExceeded, limits: &[&RateLimit]) -> Rejection {
    let limit = |place: usize| limits.get(place).copied();
    let (message, retry_after, limit) = match exceeded {
        RateExceeded::Rate { limit: place, wait } => {
            // Rounded up, so that a caller that waits exactly this long succeeds.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            let rate = limit(place).and_then(RateLimit::rate);
            let rate = rate.map(|rate| format!("{} per {}", calls(rate.calls), rate.period.word()));
            let message = format!(
                "Not run: too many calls. The policy allows {} of {}. Make the same call again in {}.",
                rate.unwrap_or_default(),
                tools(limit(place)),
                match seconds {
                    1 => "1 second".to_owned(),
                    seconds => format!("{seconds} seconds"),
                }
            );
            (message, Duration::from_secs(seconds), limit(place))
        }
        RateExceeded::Concurrent { limit: place } => {
            let concurrent = limit(place).and_then(RateLimit::concurrent).unwrap_or_default();
            let message = format!(
                "Not run: too many calls at the same time. The policy allows {} of {} in progress. Make the same call \
                 again when one of them has ended.",
                calls(concurrent),
                tools(limit(place))
            );
            (message, IN_PROGRESS_RETRY_AFTER, limit(place))
        }
        RateExceeded::Counts => {
            let message = "Not run: too many callers make calls at the same time. Make the same call again later.";
            (message.to_owned(), IN_PROGRESS_RETRY_AFTER, None)
        }
    };
    let detail = match limit {
        Some(limit) => format!("{}, of the {} policy: {limit}", limit.place(), limit.place().layer),
        None => "every count of a rate limit is in use".to_owned(),
    };
    Rejection { retry_after: Some(retry_after), ..Rejection::new(Code::RateLimited, message).with_detail(detail) }
}

fn calls(number: u32) -> String {
    if number == 1 { "1 call".to_owned() } else { format!("{number} calls") }
}

/// Returns the tools whose calls a limit counts.
fn tools(limit: Option<&RateLimit>) -> String {
    limit.and_then(RateLimit::tool).map_or_else(|| "any tool".to_owned(), ToString::to_string)
}
