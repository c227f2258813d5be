//! Escapes untrusted text for people: every character that could deceive a terminal, a log or a reader.

#[doc(inline)]
pub use portcullis_definitions::text::{Lines, OneLine, count_blanks, is_deceptive, is_text_type, rows};
pub(crate) use portcullis_definitions::text::{cut, excess_mark, hex, is_zero, sha256};

/// Returns 128 random bits in hexadecimal, or `None` if the system provides no randomness.
pub(crate) fn new_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(hex(&bytes))
}
