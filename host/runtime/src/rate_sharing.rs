//! Shares the counts of rate limits with the other hosts of a ledger. No call waits for this: it reports what calls
//! have used, and notes what all hosts have used together.

use crate::admission::{RateCounts, UnreportedUse};
use crate::inner::HostState;
use crate::ledger::{CallLedger, Durable, LedgerError, LedgerUsers, RateUse, blocking};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How often a host reports at least. It also hears then how many hosts there are.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Pause between two reports while calls are made. It keeps the reports of one host to a few in each second.
const REPORT_PAUSE: Duration = Duration::from_millis(200);

/// How often a host removes counts that no host uses.
const CLEANING_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum age of calls that is reported. They then use up nothing of a rate that is worth sharing.
const AGE_MAX: Duration = Duration::from_hours(24);

/// Reports again and again while the host is open, if its policy has rate limits. Does nothing if the ledger is not
/// shared.
pub(crate) fn follow(host: &Arc<HostState>) {
    if host.approvals.ledger().users() == LedgerUsers::OneDirectory {
        return;
    }
    let host = Arc::downgrade(host);
    drop(tokio::spawn(async move {
        // Cleans at once too, because every host of a ledger may live for less than the interval.
        let mut cleaned: Option<Instant> = None;
        loop {
            let Some(host) = host.upgrade() else { return };
            let counts = Arc::clone(&host.admissions.rate_counts);
            if !host.policy().policy.rate_limits().is_empty() {
                let cleans = cleaned.is_none_or(|cleaned| cleaned.elapsed() >= CLEANING_INTERVAL);
                // If the database cannot be reached, the next report has these calls too.
                if report(&counts, host.approvals.ledger()).await.is_ok() && cleans {
                    cleaned = Some(Instant::now());
                    // If this fails, the unused counts stay until the next cleaning.
                    let _ = clean(host.approvals.ledger()).await;
                }
            }
            drop(host);
            sleep(REPORT_PAUSE).await;
            // Reports early if a call was counted.
            let _ = timeout(REPORT_INTERVAL.saturating_sub(REPORT_PAUSE), counts.used()).await;
        }
    }));
}

/// Reports what calls have used since the last report, and notes what all hosts have used.
async fn report(counts: &Arc<RateCounts>, ledger: &Arc<CallLedger>) -> Result<(), LedgerError> {
    let sent = Instant::now();
    let (unreported, ledger) = (counts.unreported(sent), Arc::clone(ledger));
    let uses: Vec<RateUse> = unreported.iter().map(use_of).collect();
    let keys: HashMap<String, UnreportedUse> = uses.iter().map(|one| one.key.clone()).zip(unreported).collect();
    let used = blocking(move || ledger.note(Durable::Process, |change| change.share_rates(&uses))).await?;
    let now = Instant::now();
    for (key, ahead) in used.ahead {
        if let Some(reported) = keys.get(&key) {
            let ahead = Duration::from_micros(u64::try_from(ahead).unwrap_or(0));
            counts.note_reported(reported, ahead, sent, now);
        }
    }
    counts.share_among(used.hosts, now);
    Ok(())
}

async fn clean(ledger: &Arc<CallLedger>) -> Result<(), LedgerError> {
    let ledger = Arc::clone(ledger);
    blocking(move || ledger.note(Durable::Process, |change| change.remove_unused_rates())).await
}

fn use_of(unreported: &UnreportedUse) -> RateUse {
    RateUse {
        key: unreported.shared_key(),
        calls: unreported.calls,
        step: microseconds(unreported.step),
        age: microseconds(unreported.age.min(AGE_MAX)),
    }
}

/// Rounds up to whole microseconds, so that no rate is exceeded by rounding.
fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos().div_ceil(1000)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::CountedLimit;
    use portcullis_policy::{Policy, Principal, ToolName};

    /// The database adds times, and refuses those beyond its range.
    #[test]
    fn an_old_use_is_reported_with_the_greatest_age() {
        let (counts, now) = (Arc::new(RateCounts::default()), Instant::now());
        let policy = Policy::parse("[[rate-limit]]\nrate = '6/h'\n").unwrap();
        let (principal, tool): (Principal, ToolName) = ("a".parse().unwrap(), "files.read".parse().unwrap());
        let limits: Vec<_> =
            policy.rate_limits().iter().map(|limit| CountedLimit::of(limit, &principal, &tool)).collect();
        counts.share_among(2, now);
        drop(counts.take(&limits, now).unwrap());
        let reported = counts.unreported(now + AGE_MAX * 2).iter().map(|one| use_of(one).age).collect::<Vec<_>>();
        assert_eq!(reported, [microseconds(AGE_MAX)]);
    }
}
