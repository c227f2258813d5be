//! As many calls in flight as a host runs by default.

use super::call_samples::{CallSample, CallSamples, timed};
use super::machine::resident_bytes;
use portcullis::{CALLS_DEFAULT, Host};
use portcullis_cases::{CallTemplate, RepeatedCase};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::interval;

/// Calls in flight.
pub(super) const IN_FLIGHT: usize = CALLS_DEFAULT as usize;

/// Maximum calls. More would only make the audit log of the run larger, which takes a kilobyte for each.
const CONCURRENT_CALLS_MAX: usize = 20_000;

/// How often the memory of the process is read. A reading takes about a millisecond.
const MEMORY_PERIOD: Duration = Duration::from_millis(50);

/// The calls, and what the process looked like meanwhile.
pub(super) struct ConcurrentCalls {
    pub(super) samples: CallSamples,
    /// From the first request to the last reply.
    pub(super) time: Duration,
    /// What the process gained in resident memory, in bytes. `None` if the kernel does not tell.
    pub(super) gained_bytes: Option<u64>,
    /// The most calls that were in the host at one time. A caller that waits for a thread is not in the host yet.
    pub(super) in_host: usize,
}

/// Measures calls until the time is over, at least one of each caller.
///
/// # Errors
/// A caller panicked.
pub(super) async fn measure(
    case: &RepeatedCase<'_>,
    template: &CallTemplate,
    budget: Duration,
) -> anyhow::Result<ConcurrentCalls> {
    case.renew().await?;
    let (before, most) = (resident_bytes(), case.calls_max().min(CONCURRENT_CALLS_MAX));
    let (began, count) = (Instant::now(), Arc::new(CallCount::default()));
    let mut callers = JoinSet::new();
    for caller in 0..IN_FLIGHT {
        // Each has a session of its own, because calls of one session that may write run one after the other.
        let caller = Caller { caller: caller + 1, host: case.host().clone(), template: template.clone() };
        callers.spawn(caller.call_until(began + budget, most, Arc::clone(&count)));
    }
    let (mut samples, mut peak, mut ticks) = (CallSamples::default(), before, interval(MEMORY_PERIOD));
    loop {
        tokio::select! {
            ended = callers.join_next() => match ended {
                Some(calls) => samples.extend(calls?),
                None => break,
            },
            _ = ticks.tick() => peak = peak.max(resident_bytes()),
        }
    }
    let time = began.elapsed();
    // A short measurement ends before the second tick. Part of the memory of a call stays with its slot.
    let peak = peak.max(resident_bytes());
    let gained_bytes = before.zip(peak).map(|(before, peak)| peak.saturating_sub(before));
    // At least 1, because the gained memory is divided by it.
    let in_host = count.most_in_host.load(Ordering::Relaxed).max(1);
    Ok(ConcurrentCalls { samples, time, gained_bytes, in_host })
}

/// One of the callers.
struct Caller {
    caller: usize,
    host: Host,
    template: CallTemplate,
}

/// What all callers count together.
#[derive(Default)]
struct CallCount {
    ended: AtomicUsize,
    in_host: AtomicUsize,
    most_in_host: AtomicUsize,
}

impl Caller {
    async fn call_until(self, end: Instant, most: usize, count: Arc<CallCount>) -> CallSamples {
        let mut samples = CallSamples::default();
        for number in 0.. {
            // The clock starts before the wait for a thread, which is part of what a caller waits for.
            let wanted = Instant::now();
            tokio::task::yield_now().await;
            // `Relaxed`: the counters are only shown, and order nothing else.
            count.most_in_host.fetch_max(count.in_host.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            let call = timed(&self.host, self.template.request(self.caller, number)).await;
            count.in_host.fetch_sub(1, Ordering::Relaxed);
            samples.add(call.map(|call| CallSample { time: wanted.elapsed(), ..call }));
            if Instant::now() >= end || count.ended.fetch_add(1, Ordering::Relaxed) >= most {
                break;
            }
        }
        samples
    }
}
