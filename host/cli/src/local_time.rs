//! Times in the zone of the user. Only this file uses the library of time zones.

use anyhow::Context as _;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

/// The zone of the user, and the time when the command began.
#[derive(Clone, Debug)]
pub(crate) struct LocalTime {
    zone: TimeZone,
    now: Zoned,
}

impl LocalTime {
    /// Reads the zone and the clock of the system.
    pub(crate) fn read() -> Self {
        let zone = TimeZone::system();
        Self { now: Timestamp::now().to_zoned(zone.clone()), zone }
    }

    /// Formats a recorded time to the second, with its day if it is not today. A text that is no time stays as it is.
    pub(crate) fn short(&self, recorded: &str) -> String {
        let Ok(at) = recorded.parse::<Timestamp>() else { return recorded.to_owned() };
        let at = at.to_zoned(self.zone.clone());
        let format = if at.date() == self.now.date() {
            "%H:%M:%S"
        } else if at.date().year() == self.now.date().year() {
            "%b %d %H:%M:%S"
        } else {
            "%Y-%m-%d %H:%M:%S"
        };
        at.strftime(format).to_string()
    }

    /// Formats a recorded time to the millisecond, with its day and the offset of the zone.
    pub(crate) fn long(&self, recorded: &str) -> String {
        let Ok(at) = recorded.parse::<Timestamp>() else { return recorded.to_owned() };
        at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S%.3f %:z").to_string()
    }

    /// Parses what a user types for a moment: `today`, `yesterday`, a time ago such as `2h`, a date, or a date and
    /// time.
    ///
    /// # Errors
    /// The text is none of them.
    pub(crate) fn moment(&self, typed: &str) -> anyhow::Result<Timestamp> {
        let begin = |date: Date| Ok(date.to_zoned(self.zone.clone())?.timestamp());
        if typed == "today" {
            return begin(self.now.date());
        }
        if typed == "yesterday" {
            return begin(self.now.date().yesterday()?);
        }
        if let Some(ago) = ago(typed) {
            return self.now.timestamp().checked_sub(ago).context("this is too long ago");
        }
        if let Ok(at) = typed.parse::<Timestamp>() {
            return Ok(at);
        }
        // A date and time also parses as a date.
        if typed.len() > "2026-11-24".len()
            && let Ok(at) = typed.parse::<DateTime>()
        {
            return Ok(at.to_zoned(self.zone.clone())?.timestamp());
        }
        let date = typed.parse::<Date>().ok().filter(|_| typed.len() == "2026-11-24".len());
        begin(date.with_context(|| {
            format!("`{}` is no time: type today, yesterday, 2h, 2026-11-24, or 2026-11-24T10:00", typed.escape_debug())
        })?)
    }
}

/// Parses a number with a unit: s, m, h, d or w.
fn ago(typed: &str) -> Option<SignedDuration> {
    let unit = typed.chars().next_back()?;
    let number: i64 = typed.strip_suffix(unit)?.parse().ok().filter(|number| *number >= 0)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    number.checked_mul(seconds).map(SignedDuration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> LocalTime {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        LocalTime { now: "2026-11-24T11:00:00Z".parse::<Timestamp>().unwrap().to_zoned(zone.clone()), zone }
    }

    #[test]
    fn a_time_is_shown_in_the_zone_with_its_day_if_that_is_another() {
        let time = noon();
        assert_eq!(time.short("2026-11-24T09:30:00.125Z"), "10:30:00");
        assert_eq!(time.short("2026-11-23T23:30:00Z"), "00:30:00");
        assert_eq!(time.short("2026-11-23T22:30:00Z"), "Nov 23 23:30:00");
        assert_eq!(time.short("2025-11-23T22:30:00Z"), "2025-11-23 23:30:00");
        assert_eq!(time.short("evil"), "evil");
        assert_eq!(time.long("2026-11-24T09:30:00.125Z"), "2026-11-24 10:30:00.125 +01:00");
    }

    #[test]
    fn a_typed_moment_is_in_the_zone_of_the_user() {
        let rows = [
            ("today", "2026-11-23T23:00:00Z"),
            ("yesterday", "2026-11-22T23:00:00Z"),
            ("2h", "2026-11-24T09:00:00Z"),
            ("90m", "2026-11-24T09:30:00Z"),
            ("1w", "2026-11-17T11:00:00Z"),
            ("2026-11-20", "2026-11-19T23:00:00Z"),
            ("2026-11-20T10:00", "2026-11-20T09:00:00Z"),
            ("2026-11-20 10:00:05", "2026-11-20T09:00:05Z"),
            ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
        ];
        for (typed, expected) in rows {
            assert_eq!(noon().moment(typed).unwrap().to_string(), expected, "{typed}");
        }
        for typed in ["", "soon", "-2h", "2", "h", "2026-13-01", "9999999999999999h", "\u{1b}[2J"] {
            let error = noon().moment(typed).unwrap_err().to_string();
            assert!(!error.contains('\u{1b}'), "{typed}: {error}");
        }
    }
}
