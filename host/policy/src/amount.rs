//! Parses the amounts of a policy: `"64 MiB"`, `"30 s"`, or a plain count.
//!
//! This file must not know which limit an amount is for.

/// Why a text or number is not an amount for a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// The amount is zero.
    #[error("a limit cannot be zero")]
    Zero,
    /// The amount is above the ceiling of the limit.
    #[error("the amount is above the ceiling of {ceiling}")]
    AboveCeiling {
        /// The ceiling, as a policy would spell it.
        ceiling: String,
    },
    /// The amount has the wrong unit, or cannot be parsed.
    #[error("expected {wanted}")]
    Spelling {
        /// The expected kind of amount.
        wanted: &'static str,
        /// How to spell it.
        remedy: &'static str,
    },
}

impl AmountError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Zero => "write the smallest amount that is enough, or remove the key to get the default".to_owned(),
            Self::AboveCeiling { ceiling } => format!("write {ceiling} or less"),
            Self::Spelling { remedy, .. } => (*remedy).to_owned(),
        }
    }
}

/// The unit of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes: an integer, or a text with a binary unit.
    Bytes,
    /// A count: an integer.
    Count,
    /// Milliseconds: a text with a unit of time.
    Milliseconds,
}

/// The suffixes of sizes. Decimal units are not accepted, because `MB` is ambiguous.
const SIZES: [(&str, u64); 4] = [("GiB", 1024 * 1024 * 1024), ("MiB", 1024 * 1024), ("KiB", 1024), ("B", 1)];

/// The suffixes of durations, in milliseconds.
const DURATIONS: [(&str, u64); 5] =
    [("d", 24 * 60 * 60 * 1000), ("h", 60 * 60 * 1000), ("min", 60 * 1000), ("s", 1000), ("ms", 1)];

impl Unit {
    /// Parses an amount that is a text.
    pub(crate) fn read_text(self, text: &str) -> Result<u64, AmountError> {
        let suffixes: &[(&str, u64)] = match self {
            Self::Bytes => &SIZES,
            Self::Milliseconds => &DURATIONS,
            Self::Count => &[],
        };
        read(text, suffixes).ok_or_else(|| self.misspelt())
    }

    /// Parses an amount that is an integer.
    pub(crate) fn read_integer(self, amount: i64) -> Result<u64, AmountError> {
        match self {
            Self::Bytes | Self::Count => u64::try_from(amount).map_err(|_| self.misspelt()),
            Self::Milliseconds => Err(self.misspelt()),
        }
    }

    /// Returns the error for a value that is not an amount of this unit.
    pub(crate) fn misspelt(self) -> AmountError {
        let (wanted, remedy) = match self {
            Self::Bytes => {
                ("a size", "write a size such as \"64 MiB\" (units: B, KiB, MiB, GiB), or a number of bytes")
            }
            Self::Count => ("a count", "write a whole number without quotes"),
            Self::Milliseconds => ("a duration", "write a duration such as \"30 s\" (units: ms, s, min, h, d)"),
        };
        AmountError::Spelling { wanted, remedy }
    }

    /// Checks that `amount` is above zero and not above the ceiling, and converts it.
    pub(crate) fn admit(self, amount: u64, ceiling: usize) -> Result<usize, AmountError> {
        match usize::try_from(amount) {
            Ok(0) => Err(AmountError::Zero),
            Ok(admitted) if admitted <= ceiling => Ok(admitted),
            Ok(_) | Err(_) => Err(AmountError::AboveCeiling { ceiling: self.show(ceiling) }),
        }
    }

    /// Writes `amount` with the largest suffix that divides it.
    pub(crate) fn show(self, amount: usize) -> String {
        let suffixes: &[(&str, u64)] = match self {
            Self::Bytes => &SIZES,
            Self::Milliseconds => &DURATIONS,
            Self::Count => &[],
        };
        let whole = |(_, factor): &&(&str, u64)| (amount as u64).is_multiple_of(*factor);
        match suffixes.iter().find(whole) {
            Some((suffix, factor)) => format!("\"{} {suffix}\"", amount as u64 / factor),
            None => amount.to_string(),
        }
    }

    /// Returns `key` and `amount` for display, or none if the amount is the default.
    pub(crate) fn show_changed(self, key: &str, amount: u64, default: usize) -> Option<String> {
        let amount = usize::try_from(amount).unwrap_or(usize::MAX);
        (amount != default).then(|| format!("{key} {}", self.show(amount).trim_matches('"')))
    }
}

/// Parses digits, at most one space, and a suffix.
fn read(text: &str, suffixes: &[(&str, u64)]) -> Option<u64> {
    // A text of digits alone is refused, because its unit would be a guess.
    let (digits, suffix) = text.split_at(text.find(|character: char| !character.is_ascii_digit())?);
    let suffix = suffix.strip_prefix(' ').unwrap_or(suffix);
    let (_, factor) = suffixes.iter().find(|(known, _)| *known == suffix)?;
    digits.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_binary_units() {
        let read = |text| Unit::Bytes.read_text(text).ok();
        assert_eq!(read("64 MiB"), Some(67_108_864));
        assert_eq!(read("256 KiB"), Some(262_144));
        assert_eq!(read("1 GiB"), Some(1_073_741_824));
        assert_eq!(read("512 B"), Some(512));
        assert_eq!(read("512B"), Some(512));
    }

    #[test]
    fn durations_are_read_in_milliseconds() {
        let read = |text| Unit::Milliseconds.read_text(text).ok();
        assert_eq!(read("500 ms"), Some(500));
        assert_eq!(read("30 s"), Some(30_000));
        assert_eq!(read("5 min"), Some(300_000));
        assert_eq!(read("1 h"), Some(3_600_000));
        assert_eq!(read("2 d"), Some(172_800_000));
    }

    #[test]
    fn ambiguous_amounts_are_refused() {
        let texts = [
            "",
            " ",
            "64",
            "MiB",
            "64 MB",
            "64 mib",
            "64  MiB",
            "64 MiB ",
            " 64 MiB",
            "-1 B",
            "+1 B",
            "1.5 MiB",
            "1e3 B",
            "0x10 B",
            "1_000 B",
            "18446744073709551616 B",
            "18446744073709551615 KiB",
            "64 s",
            "unlimited",
            "٣ B",
        ];
        for text in texts {
            assert!(Unit::Bytes.read_text(text).is_err(), "{text:?}");
        }
        for text in ["30", "30 S", "30 m", "30 sec", "30 s 5 ms", "1 D", "1 w", "30 MiB", "∞"] {
            assert!(Unit::Milliseconds.read_text(text).is_err(), "{text:?}");
        }
        assert!(Unit::Count.read_text("12").is_err());
        assert!(Unit::Count.read_integer(-1).is_err());
        assert!(Unit::Milliseconds.read_integer(30).is_err());
    }

    #[test]
    fn a_shown_amount_reads_back_as_the_same_amount() {
        for amount in [1, 512, 1024, 65_536, 1_048_576, 1_073_741_824] {
            let shown = Unit::Bytes.show(amount);
            assert_eq!(Unit::Bytes.read_text(shown.trim_matches('"')), Ok(amount as u64));
        }
        assert_eq!(Unit::Milliseconds.show(86_400_000), "\"1 d\"");
        assert_eq!(Unit::Milliseconds.show(3_600_000 * 36), "\"36 h\"");
        assert_eq!(Unit::Count.show(256), "256");
    }
}
