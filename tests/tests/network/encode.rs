//! Encodings of bytes as text, in which a secret could leak.

use portcullis_tests::holds;
use serde_json::{Value, json};
use std::fmt::Write;

/// Encodes as Base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let sextet = (bits >> (18 - 6 * place) & 63) as usize;
            text.push(if place <= chunk.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    text
}

/// Returns the part of a text's Base64 form that does not depend on its surroundings, for an offset of this many bytes
/// modulo three.
fn base64_within(text: &str, offset: usize) -> String {
    let bytes = ["a".repeat(offset).as_bytes(), text.as_bytes()].concat();
    let whole = bytes.len() / 3 * 3;
    base64(&bytes[..whole])[if offset == 0 { 0 } else { 4 }..].to_owned()
}

/// Encodes each byte as two hexadecimal digits.
pub(crate) fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Percent-encodes every byte that `keep` does not accept.
pub(crate) fn percent(text: &str, keep: impl Fn(u8) -> bool) -> String {
    text.bytes().fold(String::new(), |mut text, byte| {
        if keep(byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// Returns the encodings for which artefacts are searched.
pub(crate) fn spellings(secret: &str) -> Vec<Vec<u8>> {
    let texts = [
        secret.to_owned(),
        secret.chars().rev().collect(),
        hex(secret),
        hex(secret).to_uppercase(),
        percent(secret, |_| false),
        base64_within(secret, 0),
        base64_within(secret, 1),
        base64_within(secret, 2),
    ];
    let mut spellings: Vec<_> = texts.into_iter().map(String::into_bytes).collect();
    spellings.push(secret.encode_utf16().flat_map(u16::to_le_bytes).collect());
    spellings
}

/// Asserts that bytes contain no encoding of a secret.
#[track_caller]
pub(crate) fn clean(what: &str, bytes: &[u8], secret: &str) {
    for spelling in spellings(secret) {
        let found = holds(bytes, &spelling);
        assert!(!found, "{what} contains the secret as {}", String::from_utf8_lossy(&spelling));
    }
}

/// Asserts the same for every file below a directory, except the one with the secret. Returns the number of files.
pub(crate) fn clean_below(root: &std::path::Path, secret: &str) -> usize {
    let mut files = 0;
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += clean_below(&path, secret);
        } else if path.is_file() && path.file_name().is_some_and(|name| name != "token") {
            clean(&path.display().to_string(), &std::fs::read(&path).unwrap(), secret);
            files += 1;
        }
    }
    files
}

/// Decodes what a guest saw. The guest encodes it, because its result is searched for secrets too.
pub(crate) fn unveiled(mut result: Value) -> Value {
    let plain = |text: &mut Value| {
        let bytes: Vec<_> = text.as_str().unwrap().as_bytes().chunks(2).map(|pair| !byte(pair)).collect();
        *text = json!(String::from_utf8_lossy(&bytes));
    };
    if result["body"].is_string() {
        plain(&mut result["body"]);
    }
    for list in ["headers", "trailers"] {
        for header in result[list].as_array_mut().into_iter().flatten() {
            header.as_array_mut().unwrap().iter_mut().for_each(plain);
        }
    }
    result
}

/// Parses two hexadecimal digits.
fn byte(pair: &[u8]) -> u8 {
    u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()
}

/// Returns the number of redactions in an outcome entry, wherever it is.
pub(crate) fn redactions(outcome: &Value) -> u64 {
    match outcome {
        Value::Object(fields) => {
            fields.get("redacted").and_then(Value::as_u64).unwrap_or(0) + fields.values().map(redactions).sum::<u64>()
        }
        _ => 0,
    }
}
