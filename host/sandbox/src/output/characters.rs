//! Bytes that come in pieces, as text: a character may lie across two of them.

use std::borrow::Cow;

/// The beginning of a character that is still to be ended: the longest has four bytes.
const BEGUN_BYTES_MAX: usize = 3;

/// Turns pieces of bytes into pieces of text. What is no UTF-8 becomes U+FFFD.
#[derive(Default)]
pub(super) struct Characters {
    begun: Vec<u8>,
}

impl Characters {
    /// The characters that are whole after `bytes`.
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

    /// What stands for a character that was never ended.
    pub(super) fn finish(&mut self) -> &'static str {
        let is_begun = !self.begun.is_empty();
        self.begun.clear();
        if is_begun { "\u{fffd}" } else { "" }
    }
}

/// How many bytes at the end are the beginning of a character.
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
    fn pieces_make_the_text_that_the_whole_makes_and_hold_back_no_more_than_a_character() {
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
