//! The spellings of a secret that the host searches for: those in which servers echo a text.

use super::encoding::{HexCase, is_unreserved, percent};
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER, HEXUPPER};
use std::collections::BTreeSet;
use std::fmt::Write;
use zeroize::Zeroizing;

/// Returns every spelling of a value to search for.
pub(super) fn spellings(value: &str) -> BTreeSet<Vec<u8>> {
    let bytes = value.as_bytes();
    let mut texts = vec![
        value.to_owned(),
        value.chars().rev().collect(),
        html(value, "&#39;", "&#34;"),
        html(value, "&#x27;", "&quot;"),
        html(value, "&apos;", "&quot;"),
        html(value, "'", "&quot;"),
    ];
    texts.extend([BASE64.encode(bytes), BASE64URL.encode(bytes)]);
    for bare in [BASE64_NOPAD, BASE64URL_NOPAD] {
        texts.push(bare.encode(bytes));
        texts.extend((0..3).map(|offset| base64_core(bytes, offset, &bare)));
    }
    texts.extend([HEXLOWER.encode(bytes), HEXUPPER.encode(bytes)]);
    for case in [HexCase::Lower, HexCase::Upper] {
        texts.push(percent(bytes, case, is_unreserved));
        texts.push(percent(bytes, case, |_| false));
        // `encodeURIComponent` of JavaScript, and form encoding.
        texts.push(percent(bytes, case, |byte| is_unreserved(byte) || b"!*'()".contains(&byte)));
        texts.push(percent(bytes, case, |byte| is_unreserved(byte) || byte == b' ').replace(' ', "+"));
        let form = |byte: u8| byte.is_ascii_alphanumeric() || b"*-._ ".contains(&byte);
        texts.push(percent(bytes, case, form).replace(' ', "+"));
        // Path segments as some libraries encode them, and `encodeURI` of JavaScript.
        texts.push(percent(bytes, case, |byte| is_unreserved(byte) || byte == b'/'));
        texts.push(percent(bytes, case, |byte| is_unreserved(byte) || b";/?:@&=+$,#!*'()".contains(&byte)));
        for slash in ["/", "\\/"] {
            texts.extend([json(value, slash, "", case), json(value, slash, "<>&", case)]);
            texts.push(json(value, slash, "<>&'+", case));
        }
    }
    texts.into_iter().map(String::into_bytes).collect()
}

/// Returns the base64 characters that depend on the value alone if it begins `offset` bytes into a group of three.
fn base64_core(bytes: &[u8], offset: usize, bare: &Encoding) -> String {
    let shifted = Zeroizing::new([&[0; 2][..offset], bytes].concat());
    let encoded = bare.encode(&shifted);
    // The characters of the preceding bytes, and the character shared with them.
    let begin = [0, 2, 3][offset];
    // Without the last character if it also encodes a part of what follows.
    let end = shifted.len() * 8 / 6;
    encoded[begin..end].to_owned()
}

fn html(value: &str, apostrophe: &str, quote: &str) -> String {
    let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('\'', apostrophe).replace('"', quote)
}

/// Returns the value as in a JSON string. If `unicode` is not empty, its characters and all characters outside ASCII
/// are written as `\u00..`, with hexadecimal digits in `case`.
fn json(value: &str, slash: &str, unicode: &str, case: HexCase) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '/' => text.push_str(slash),
            _ if unicode.contains(character) || (!unicode.is_empty() && !character.is_ascii()) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let written = match case {
                        HexCase::Lower => write!(text, "\\u{unit:04x}"),
                        HexCase::Upper => write!(text, "\\u{unit:04X}"),
                    };
                    debug_assert!(written.is_ok(), "writing to a string does not fail");
                }
            }
            _ => text.push(character),
        }
    }
    text
}
