//! JSON Pointers into the authoritative schema.

use std::fmt::Write;

pub(super) use portcullis::plugins::schema_parts::down;

/// Returns the pointer to a schema below a keyword, by its name or index there.
pub(super) fn below(pointer: &str, keyword: &str, token: &str) -> String {
    down(&down(pointer, keyword), token)
}

/// Returns the tokens of a pointer.
pub(super) fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    // Replace `~1` first: otherwise `~01` would become a slash (RFC 6901, section 4).
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// Returns the reference for a pointer: a URI fragment.
pub(super) fn reference(pointer: &str) -> String {
    let mut text = String::with_capacity(pointer.len() + 1);
    text.push('#');
    for byte in pointer.bytes() {
        // A fragment may have these characters as they are (RFC 3986, section 3.5).
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}
