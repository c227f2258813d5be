//! Amounts of money, as whole millionths of the unit that the policy's prices are in. No amount is rounded down.

use std::fmt;

/// Decimals of an amount that is written as text.
const DECIMALS: usize = 6;

/// Millionths of one unit.
const UNIT: u64 = 1_000_000;

/// Tokens that a price is for.
const PRICED_TOKENS: u128 = 1_000_000;

/// An amount of money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Money(u64);

impl Money {
    /// No maximum.
    pub(crate) const MAX: Self = Self(u64::MAX);

    /// Parses a decimal number with at most six decimals, such as `0.25`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || decimals.len() > DECIMALS || !digits(whole) || !digits(decimals) {
            return None;
        }
        let part: u64 = format!("{decimals:0<DECIMALS$}").parse().ok()?;
        Some(Self(whole.parse::<u64>().ok()?.checked_mul(UNIT)?.checked_add(part)?))
    }

    /// Returns the price of tokens at this price for a million of them, rounded up.
    pub(crate) fn of_tokens(self, tokens: u64) -> Self {
        let price = (u128::from(self.0) * u128::from(tokens)).div_ceil(PRICED_TOKENS);
        Self(u64::try_from(price).unwrap_or(u64::MAX))
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:0DECIMALS$}", self.0 / UNIT, self.0 % UNIT);
        let short = text.trim_end_matches('0');
        formatter.write_str(short.strip_suffix('.').unwrap_or(short))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written_exactly() {
        for (text, shown) in [("0.25", "0.25"), ("3", "3"), ("0.000001", "0.000001"), ("12.500", "12.5")] {
            assert_eq!(Money::parse(text).unwrap().to_string(), shown);
        }
        for text in ["", ".5", "1.0000001", "-1", "1e3", "1,5", "99999999999999999999"] {
            assert_eq!(Money::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_price_is_rounded_up() {
        let price = Money::parse("2.5").unwrap();
        assert_eq!(price.of_tokens(1_000_000).to_string(), "2.5");
        assert_eq!(price.of_tokens(1).to_string(), "0.000003");
        assert_eq!(price.of_tokens(0), Money::default());
    }
}
