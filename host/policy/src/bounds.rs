//! Bounds of a number. Integers and floats are compared without rounding.
//!
//! This file must not know what the number means.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Number;

/// From this value on, a float can represent several integers, so the host cannot know which one a tool will read.
const FLOAT_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// A number of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    Integer(i64),
    Float(f64),
}

/// Why a number is not a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// The float is not finite, or so large that it can represent several integers.
    #[error("this number cannot be compared exactly")]
    Inexact,
    /// The lower bound is above the upper one.
    #[error("`at-least` is greater than `at-most`")]
    Contradiction,
}

impl BoundsError {
    /// Returns how to fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Inexact => "write a whole number without a dot, or a smaller one",
            Self::Contradiction => "write the smaller number after `at-least`",
        }
    }
}

impl Bound {
    /// Returns a float as a bound.
    pub(crate) fn float(value: f64) -> Result<Self, BoundsError> {
        // NaN and the infinities fail this comparison, too.
        if value.abs() < FLOAT_INTEGERS { Ok(Self::Float(value)) } else { Err(BoundsError::Inexact) }
    }
}

/// The numbers from one bound to the other, inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    at_least: Option<Bound>,
    at_most: Option<Bound>,
}

impl Bounds {
    /// Creates bounds that some number is within. A missing bound is no limit.
    pub(crate) fn new(at_least: Option<Bound>, at_most: Option<Bound>) -> Result<Self, BoundsError> {
        match (at_least, at_most) {
            // No number is within such bounds, so a deny rule with them would protect nothing.
            (Some(low), Some(high)) if Exact::of_bound(low).compare(Exact::of_bound(high)) == Ordering::Greater => {
                Err(BoundsError::Contradiction)
            }
            (_, _) => Ok(Self { at_least, at_most }),
        }
    }

    /// Returns whether a number is within the bounds, or none if it is a float that is too large to compare.
    pub(crate) fn contain(&self, number: &Number) -> Option<bool> {
        let value = Exact::of_number(number)?;
        let reaches = self.at_least.is_none_or(|low| value.compare(Exact::of_bound(low)) != Ordering::Less);
        let stays = self.at_most.is_none_or(|high| value.compare(Exact::of_bound(high)) != Ordering::Greater);
        Some(reaches && stays)
    }
}

/// A number as its whole part, rounded towards zero, and the remainder with the sign of the number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Exact {
    whole: i128,
    rest: f64,
}

impl Exact {
    fn of_bound(bound: Bound) -> Self {
        match bound {
            Bound::Integer(integer) => Self { whole: integer.into(), rest: 0.0 },
            Bound::Float(float) => Self::of_float(float),
        }
    }

    fn of_number(number: &Number) -> Option<Self> {
        // Integers come first, signed and unsigned, because a float would round those above 2^53.
        let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match integer {
            Some(whole) => Some(Self { whole, rest: 0.0 }),
            None => number.as_f64().filter(|float| float.abs() < FLOAT_INTEGERS).map(Self::of_float),
        }
    }

    /// Splits a float without rounding. The whole part of such a float has at most 53 bits, and the remainder has fewer
    /// bits than the float.
    fn of_float(float: f64) -> Self {
        let whole = float.trunc();
        Self { whole: whole as i128, rest: float - whole }
    }

    fn compare(self, other: Self) -> Ordering {
        // A zero remainder is never negative, because `x - x` is +0.0. So `total_cmp` orders it like the number.
        self.whole.cmp(&other.whole).then_with(|| self.rest.total_cmp(&other.rest))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => write!(formatter, "{integer}"),
            Self::Float(float) => write!(formatter, "{float:?}"),
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.at_most) {
            (Some(low), Some(high)) => write!(formatter, "{{ at-least = {low}, at-most = {high} }}"),
            (Some(low), None) => write!(formatter, "{{ at-least = {low} }}"),
            (None, Some(high)) => write!(formatter, "{{ at-most = {high} }}"),
            (None, None) => formatter.write_str("any number"),
        }
    }
}
