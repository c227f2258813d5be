//! JSON Pointers into the authoritative schema.

use std::fmt::Write;

pub(super) use portcullis::plugins::schema_parts::down;

/// The place of a schema below a keyword, by its name or its number there.
pub(super) fn below(pointer: &str, keyword: &str, token: &str) -> String {
    down(&down(pointer, keyword), token)
}

/// The tokens of a pointer.
pub(super) fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// A pointer as the reference to what it points at: a fragment of a URI.
pub(super) fn reference(pointer: &str) -> String {
    let mut text = String::with_capacity(pointer.len() + 1);
    text.push('#');
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}
