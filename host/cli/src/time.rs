//! Formats times for people, relative to now.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The current time, in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now(i64);

impl Now {
    /// Reads the clock.
    pub(crate) fn read() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Returns the milliseconds since 1970.
    pub(crate) fn as_millisecond(self) -> i64 {
        self.0
    }
}

/// Formats a time in the past.
pub(crate) fn ago(at: i64, now: Now) -> String {
    let passed = between(at, now.0);
    if passed < Duration::from_secs(1) { "just now".to_owned() } else { format!("{} ago", span(passed)) }
}

/// Formats a time in the future.
pub(crate) fn ahead(at: i64, now: Now) -> String {
    let left = between(now.0, at);
    if left.is_zero() { "expired".to_owned() } else { format!("in {}", span(left)) }
}

/// Formats a duration in the largest unit of which it has at least two.
pub(crate) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        172_800.. => format!("{} days", seconds / 86_400),
        7200.. => format!("{} hours", seconds / 3600),
        120.. => format!("{} minutes", seconds / 60),
        1 => "1 second".to_owned(),
        _ => format!("{seconds} seconds"),
    }
}

fn between(earlier: i64, later: i64) -> Duration {
    Duration::from_millis(u64::try_from(later.saturating_sub(earlier)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_in_the_unit_that_fits() {
        let now = Now(1_000_000_000);
        let rows = [(0, "just now"), (1000, "1 second ago"), (119_999, "119 seconds ago"), (120_000, "2 minutes ago")];
        for (milliseconds, told) in rows {
            assert_eq!(ago(now.0 - milliseconds, now), told);
        }
        assert_eq!(ago(now.0 + 5000, now), "just now");
        assert_eq!(
            (ahead(now.0 + 86_400_000, now), ahead(now.0, now)),
            ("in 24 hours".to_owned(), "expired".to_owned())
        );
    }
}
