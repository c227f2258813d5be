//! Percent-encoding, to send a secret in a query and to search for its spellings.

use data_encoding::{HEXLOWER, HEXUPPER};

/// The case of hexadecimal digits.
#[derive(Clone, Copy)]
pub(super) enum HexCase {
    Lower,
    Upper,
}

/// Percent-encodes the bytes that `keep` does not accept.
pub(super) fn percent(bytes: &[u8], case: HexCase, keep: impl Fn(u8) -> bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if keep(*byte) {
            text.push(char::from(*byte));
        } else {
            text.push('%');
            push_hex(&mut text, *byte, case);
        }
    }
    text
}

/// Returns whether a byte is unreserved (RFC 3986), so that a query need not encode it.
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Decodes a part of a query, as most servers do.
pub(super) fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while let Some(byte) = bytes.get(place) {
        let escaped = (*byte == b'%').then(|| bytes.get(place + 1..place + 3)).flatten().and_then(read_hex);
        match escaped {
            Some(value) => {
                decoded.push(value);
                place += 3;
            }
            None => {
                decoded.push(if *byte == b'+' { b' ' } else { *byte });
                place += 1;
            }
        }
    }
    decoded
}

fn read_hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(*digits.first()?)? * 16 + digit(*digits.get(1)?)?;
    u8::try_from(value).ok()
}

fn push_hex(text: &mut String, byte: u8, case: HexCase) {
    text.push_str(&match case {
        HexCase::Lower => HEXLOWER.encode(&[byte]),
        HexCase::Upper => HEXUPPER.encode(&[byte]),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_survives_a_round_trip() {
        let plain: Vec<u8> = (0..=255).collect();
        for case in [HexCase::Lower, HexCase::Upper] {
            assert_eq!(percent_decoded(&percent(&plain, case, is_unreserved)), plain);
        }
        assert_eq!(percent_decoded("a+b%2"), b"a b%2");
    }
}
