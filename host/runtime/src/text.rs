//! Escapes untrusted text for people: every character that could deceive a terminal, a log or a reader.

use std::error::Error;
use std::fmt::{self, Display};

#[doc(inline)]
pub use portcullis_definitions::invisible::{count_invisible, count_invisible_in_json};
#[doc(inline)]
pub use portcullis_definitions::json_layout::indent_json;
#[doc(inline)]
pub use portcullis_definitions::nearest::nearest;
#[doc(inline)]
pub use portcullis_definitions::text::{Lines, OneLine, count_blanks, is_deceptive, is_text_type, rows};
pub(crate) use portcullis_definitions::text::{cut, excess_mark, hex, is_zero, sha256};

/// Shows an error with its causes, each after `: `. The errors of this library show only their own part, and return
/// the cause as `source()`.
///
/// ```
/// use portcullis::audit::AuditError;
/// use portcullis::text::WithCauses;
///
/// let error = AuditError::Io(std::io::Error::other("the disk is full"));
/// assert_eq!(error.to_string(), "the audit log cannot be used");
/// assert_eq!(WithCauses(&error).to_string(), "the audit log cannot be used: the disk is full");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WithCauses<'a>(pub &'a (dyn Error + 'static));

impl Display for WithCauses<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.to_string();
        formatter.write_str(&shown)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            next = cause.source();
            let text = cause.to_string();
            // Errors of other libraries may show their cause themselves.
            if !shown.contains(&text) {
                write!(formatter, ": {text}")?;
                shown.push_str(&text);
            }
        }
        Ok(())
    }
}

/// Returns 128 random bits in hexadecimal, or `None` if the system provides no randomness.
pub(crate) fn new_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(hex(&bytes))
}
