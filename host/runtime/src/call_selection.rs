//! The calls that an approver selects from a request about several calls.

use std::fmt;

/// Some of the calls of a request about several calls, as their positions from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSelection(Vec<usize>);

/// Why a text selects no calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallSelectionError {
    /// The text is no list of numbers and ranges.
    #[error("write numbers and ranges, such as 1-3, 7")]
    Form,
    /// The request has no such call.
    #[error("there is no call {number}: the request has {count}")]
    Unknown {
        /// The number, from 1.
        number: usize,
        /// How many calls the request has.
        count: usize,
    },
}

impl CallSelection {
    /// Parses numbers and ranges as people write them, such as `1-3, 7`, for a request about `count` calls.
    ///
    /// ```
    /// use portcullis::approvals::CallSelection;
    ///
    /// let some = CallSelection::parse("7, 1-3", 40)?;
    /// assert_eq!(some.positions(), [0, 1, 2, 6]);
    /// assert_eq!(some.to_string(), "1-3, 7");
    /// assert!(CallSelection::parse("41", 40).is_err());
    /// # Ok::<(), portcullis::approvals::CallSelectionError>(())
    /// ```
    ///
    /// # Errors
    /// The text has another form, or names a call that the request does not have.
    pub fn parse(text: &str, count: usize) -> Result<Self, CallSelectionError> {
        let mut selected = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(CallSelectionError::Form);
            }
            // Check both ends before the range is stored. Otherwise a short text could select billions of calls.
            for number in [first, last] {
                if number == 0 || number > count {
                    return Err(CallSelectionError::Unknown { number, count });
                }
            }
            selected.extend(first - 1..last);
        }
        selected.sort_unstable();
        selected.dedup();
        Ok(Self(selected))
    }

    /// Returns the positions, sorted, from 0.
    pub fn positions(&self) -> &[usize] {
        &self.0
    }

    /// Returns whether a call is selected.
    pub fn contains(&self, position: usize) -> bool {
        self.0.binary_search(&position).is_ok()
    }
}

/// Parses a number without a sign.
fn number(text: &str) -> Result<usize, CallSelectionError> {
    let text = text.trim();
    // `usize::from_str` also takes a plus sign.
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CallSelectionError::Form);
    }
    text.parse().map_err(|_| CallSelectionError::Form)
}

impl fmt::Display for CallSelection {
    /// Writes the numbers and ranges from 1 on.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for position in &self.0 {
            match ranges.last_mut() {
                Some((_, last)) if *last == *position => *last += 1,
                _ => ranges.push((position + 1, position + 1)),
            }
        }
        for (index, (first, last)) in ranges.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match first == last {
                true => write!(formatter, "{comma}{first}")?,
                false => write!(formatter, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_selects_the_calls_that_it_names() {
        for (text, positions, shown) in [
            ("1", vec![0], "1"),
            ("1-3,5", vec![0, 1, 2, 4], "1-3, 5"),
            (" 5 , 1 - 2 , 2", vec![0, 1, 4], "1-2, 5"),
            ("3-5, 1-2", vec![0, 1, 2, 3, 4], "1-5"),
        ] {
            let selected = CallSelection::parse(text, 5).unwrap();
            assert_eq!((selected.positions(), selected.to_string().as_str()), (&*positions, shown), "{text}");
            assert!(selected.contains(positions[0]) && !selected.contains(5), "{text}");
        }
    }

    #[test]
    fn nothing_else_selects_a_call() {
        for text in ["", "all", "-1", "1-", "2-1", "1;2", "+1", "99999999999999999999999"] {
            assert_eq!(CallSelection::parse(text, 5), Err(CallSelectionError::Form), "{text:?}");
        }
        for (text, number) in [("0", 0), ("6", 6), ("2-6", 6), ("1-1000000000000", 1_000_000_000_000)] {
            assert_eq!(CallSelection::parse(text, 5), Err(CallSelectionError::Unknown { number, count: 5 }), "{text}");
        }
    }
}
