//! Spellings of bytes as text: what a secret is written in, and what it is looked for in.

/// The alphabet of RFC 4648, section 4.
pub(super) const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The alphabet of RFC 4648, section 5, for URLs and file names.
pub(super) const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const HEX_LOWER: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// The case of hexadecimal digits.
#[derive(Clone, Copy)]
pub(super) enum Case {
    Lower,
    Upper,
}

impl Case {
    fn digits(self) -> &'static [u8; 16] {
        match self {
            Self::Lower => HEX_LOWER,
            Self::Upper => HEX_UPPER,
        }
    }
}

/// Base64 without padding.
pub(super) fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..=chunk.len() {
            let sextet = bits >> (18 - 6 * place) & 0x3f;
            text.push(char::from(alphabet[sextet as usize]));
        }
    }
    text
}

/// Base64 with padding.
pub(super) fn base64_padded(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = base64(bytes, alphabet);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Two hexadecimal digits a byte.
pub(super) fn hex(bytes: &[u8], case: Case) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        push_hex(&mut text, *byte, case);
    }
    text
}

/// Percent-encoding of whatever `keep` does not keep.
pub(super) fn percent(bytes: &[u8], case: Case, keep: impl Fn(u8) -> bool) -> String {
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

/// What RFC 3986 calls unreserved: never encoded in a query.
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The bytes of a part of a query, as most servers read it.
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

fn push_hex(text: &mut String, byte: u8, case: Case) {
    let digits = case.digits();
    text.push(char::from(digits[usize::from(byte >> 4)]));
    text.push(char::from(digits[usize::from(byte & 0xf)]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_examples_in_rfc_4648() {
        let rows =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (plain, encoded) in rows {
            assert_eq!(base64_padded(plain.as_bytes(), STANDARD), encoded);
        }
        assert_eq!(base64(&[0xfb, 0xff], STANDARD), "+/8");
        assert_eq!(base64(&[0xfb, 0xff], URL_SAFE), "-_8");
    }

    #[test]
    fn what_is_percent_encoded_decodes_to_itself() {
        let plain: Vec<u8> = (0..=255).collect();
        for case in [Case::Lower, Case::Upper] {
            assert_eq!(percent_decoded(&percent(&plain, case, is_unreserved)), plain);
        }
        assert_eq!(percent_decoded("a+b%2"), b"a b%2");
        assert_eq!(hex(&[0x0a, 0xf1], Case::Upper), "0AF1");
    }
}
