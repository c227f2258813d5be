//! Bounds of a number, compared as numbers are: an integer and a float meet without either being rounded.
//!
//! It must not know what the number counts.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Number;

/// From here on a float stands for several integers, so that nobody can say which of them a tool will read.
const FLOAT_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// A number of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    Integer(i64),
    Float(f64),
}

/// Why a number is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// A float that is not finite, or so large that it stands for several integers.
    #[error("no number can be compared exactly with this one")]
    Inexact,
    /// The lower bound is above the upper one.
    #[error("no number is both at least and at most this")]
    Contradiction,
}

impl BoundsError {
    /// What to write instead.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Inexact => "write a whole number without a dot, or a smaller one",
            Self::Contradiction => "write the smaller number after `at-least`",
        }
    }
}

impl Bound {
    /// A float as a bound.
    pub(crate) fn float(value: f64) -> Result<Self, BoundsError> {
        if value.abs() < FLOAT_INTEGERS { Ok(Self::Float(value)) } else { Err(BoundsError::Inexact) }
    }
}

/// The numbers from one bound to the other, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    at_least: Option<Bound>,
    at_most: Option<Bound>,
}

impl Bounds {
    /// Bounds that some number can be within; a bound that is not there bounds nothing.
    pub(crate) fn new(at_least: Option<Bound>, at_most: Option<Bound>) -> Result<Self, BoundsError> {
        match (at_least, at_most) {
            (Some(low), Some(high)) if Exact::of_bound(low).compare(Exact::of_bound(high)) == Ordering::Greater => {
                Err(BoundsError::Contradiction)
            }
            (_, _) => Ok(Self { at_least, at_most }),
        }
    }

    /// Whether a number is within the bounds; none where it is too large a float to tell.
    pub(crate) fn contain(&self, number: &Number) -> Option<bool> {
        let value = Exact::of_number(number)?;
        let reaches = self.at_least.is_none_or(|low| value.compare(Exact::of_bound(low)) != Ordering::Less);
        let stays = self.at_most.is_none_or(|high| value.compare(Exact::of_bound(high)) != Ordering::Greater);
        Some(reaches && stays)
    }
}

/// A number as its whole part, rounded towards zero, and what is left, which has the number's own sign.
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
        let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match integer {
            Some(whole) => Some(Self { whole, rest: 0.0 }),
            None => number.as_f64().filter(|float| float.abs() < FLOAT_INTEGERS).map(Self::of_float),
        }
    }

    /// Nothing is rounded: the whole part of such a float has at most 53 bits, and what is left has fewer bits than it.
    fn of_float(float: f64) -> Self {
        let whole = float.trunc();
        Self { whole: whole as i128, rest: float - whole }
    }

    fn compare(self, other: Self) -> Ordering {
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
