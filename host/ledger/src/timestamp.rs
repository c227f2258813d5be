//! A moment, as the ledger keeps it.

use serde::{Serialize, Serializer};
use std::fmt::{self, Display, Formatter};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment, to the millisecond. It is shown and serialized in UTC by RFC 3339, such as `2026-11-24T09:30:00.125Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    milliseconds: i64,
}

impl Timestamp {
    /// Creates a moment from the milliseconds since 1970 that a row has. A time outside the calendar becomes 1970.
    pub fn from_row(milliseconds: i64) -> Self {
        Self { milliseconds: jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default().as_millisecond() }
    }

    /// Returns the milliseconds since 1970.
    pub fn as_millisecond(self) -> i64 {
        self.milliseconds
    }
}

impl Display for Timestamp {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        jiff::Timestamp::from_millisecond(self.milliseconds).unwrap_or_default().fmt(formatter)
    }
}

impl From<Timestamp> for SystemTime {
    fn from(moment: Timestamp) -> Self {
        let distance = Duration::from_millis(moment.milliseconds.unsigned_abs());
        let moved =
            if moment.milliseconds < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) };
        moved.unwrap_or(UNIX_EPOCH)
    }
}

impl From<SystemTime> for Timestamp {
    /// Cuts a time off to the millisecond. A time before 1970 becomes 1970.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_row(i64::try_from(since.as_millis()).unwrap_or_default())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_in_utc_and_becomes_a_system_time() {
        let moment = Timestamp::from_row(1_795_512_600_125);
        assert_eq!(moment.to_string(), "2026-11-24T09:30:00.125Z");
        assert_eq!(serde_json::to_string(&moment).unwrap(), "\"2026-11-24T09:30:00.125Z\"");
        assert_eq!(SystemTime::from(moment), UNIX_EPOCH + Duration::from_millis(1_795_512_600_125));
        assert_eq!(Timestamp::from(SystemTime::from(moment) + Duration::from_micros(999)), moment);
        assert_eq!(SystemTime::from(Timestamp::from_row(-1)), UNIX_EPOCH - Duration::from_millis(1));
    }

    #[test]
    fn a_time_outside_the_calendar_becomes_1970() {
        assert_eq!(Timestamp::from_row(i64::MAX), Timestamp::default());
        assert_eq!(Timestamp::from_row(i64::MIN).as_millisecond(), 0);
    }
}
