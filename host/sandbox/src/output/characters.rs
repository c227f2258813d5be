//! Converts bytes that arrive in pieces to text. A character may span two pieces.

use std::borrow::Cow;

/// Maximum bytes of an incomplete character. The longest character has four bytes.
const BEGUN_BYTES_MAX: usize = 3;

/// A converter from pieces of bytes to pieces of text. Invalid UTF-8 becomes U+FFFD.
#[derive(Default)]
pub(super) struct Characters {
    begun: Vec<u8>,
}

impl Characters {
    /// Returns the characters that are complete after `bytes`.
    pub(super) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        let decided = |bytes: &[u8]| bytes.len() - begun(bytes);
        if self.begun.is_empty() {
            let (whole, begun) = bytes.split_at(decided(bytes));
            self.begun.extend_from_slice(begun);
            return String::from_utf8_lossy(whole);
        }
        self.begun.extend_from_slice(bytes);
        let begun = self.begun.split_off(decided(&self.begun));
        let whole = std::mem::replace(&mut self.begun, begun);
        Cow::Owned(String::from_utf8_lossy(&whole).into_owned())
    }

    /// Returns the replacement for an incomplete character at the end, if there is one.
    pub(super) fn finish(&mut self) -> &'static str {
        let is_begun = !self.begun.is_empty();
        self.begun.clear();
        if is_begun { "\u{fffd}" } else { "" }
    }
}

/// Returns how many bytes at the end are the beginning of a character.
fn begun(bytes: &[u8]) -> usize {
    let is_begun = |count: &usize| {
        let end = &bytes[bytes.len() - count..];
        std::str::from_utf8(end).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=BEGUN_BYTES_MAX.min(bytes.len())).find(is_begun).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_convert_like_the_whole_and_hold_back_at_most_one_character() {
        for whole in [
            &b"plain"[..],
            "\u{e9}\u{20ac}\u{1f600} mixed \u{10ffff}".as_bytes(),
            b"\xff\xfe broken \xc3",
            b"\xe2\x82 cut \xf0\x9f\x98 short \xf0\x9f\x98",
            b"\xed\xa0\x80 a surrogate, \xc0\x80 too long",
        ] {
            let expected = String::from_utf8_lossy(whole);
            for size in 1..=whole.len() {
                let mut characters = Characters::default();
                let mut text = String::new();
                for piece in whole.chunks(size) {
                    text.push_str(&characters.push(piece));
                    assert!(characters.begun.len() <= BEGUN_BYTES_MAX, "{whole:?} by {size}");
                }
                text.push_str(characters.finish());
                assert_eq!(text, expected, "{whole:?} by {size}");
            }
        }
    }
}
