//! Calls in a running host, one after the other.

use super::call_samples::{CallSamples, timed};
use portcullis_cases::{CallTemplate, RepeatedCase};
use std::time::{Duration, Instant};

/// Maximum calls. More would only make the audit log of the run larger, which takes a kilobyte for each.
const WARM_CALLS_MAX: usize = 10_000;

/// Calls before the first one that counts, as far as they take a tenth of the time.
const WARM_UP_CALLS: usize = 20;

/// Measures calls until the time is over, at least one.
///
/// # Errors
/// The directories of the case cannot be filled.
pub(super) async fn measure(
    case: &RepeatedCase<'_>,
    template: &CallTemplate,
    budget: Duration,
) -> anyhow::Result<CallSamples> {
    let (began, most) = (Instant::now(), case.calls_max().min(WARM_CALLS_MAX));
    let (mut samples, mut warm_up_calls) = (CallSamples::default(), 0);
    for number in 0.. {
        case.renew().await?;
        let call = timed(case.host(), template.request(0, number)).await;
        if warm_up_calls < WARM_UP_CALLS && began.elapsed() < budget / 10 {
            warm_up_calls += 1;
        } else {
            samples.add(call);
            if began.elapsed() >= budget || number >= most {
                break;
            }
        }
        // A call that never waits would keep the signals from being heard.
        tokio::task::yield_now().await;
    }
    Ok(samples)
}
