//! Parses the path and query of a request into a form that every server reads the same way.
//!
//! A path rule compares segments. So nothing may hide where a segment starts or ends, or that the path leads upwards.

use std::fmt::Write as _;

use super::DestinationError;

/// The visible ASCII characters in the path percent-encode set of the WHATWG URL standard.
const ESCAPED_IN_PATHS: &str = "\"<>`{}";
/// The special-query percent-encode set of the WHATWG URL standard, for queries.
const ESCAPED_IN_QUERIES: &str = "\"<>'";

/// Parses the text after the host, and splits path and query.
pub(super) fn read(text: &str) -> Result<(String, Option<String>), DestinationError> {
    // An empty path is equivalent to `/` (RFC 9110, section 4.2.3).
    let text = if text.is_empty() { "/" } else { text };
    // A request line may also have a whole URL or `*` (RFC 9112, section 3.2). Some parsers read `//host/` as a host.
    if !text.starts_with('/') || text.starts_with("//") {
        return Err(DestinationError::PathStart);
    }
    if text.bytes().any(|byte| !byte.is_ascii_graphic() || b"#\\".contains(&byte)) {
        return Err(DestinationError::PathCharacter);
    }
    let (path, query) = match text.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (text, None),
    };
    for escaped in escapes(path) {
        if hides(escaped?) {
            return Err(DestinationError::PathHidden);
        }
    }
    if path.split('/').any(leads_elsewhere) {
        return Err(DestinationError::PathDots);
    }
    // No rule compares the segments of a query, so only its escapes must be well-formed.
    for escaped in escapes(query.unwrap_or_default()) {
        escaped?;
    }
    Ok((escaped(path, ESCAPED_IN_PATHS), query.map(|query| escaped(query, ESCAPED_IN_QUERIES))))
}

/// Escapes these characters, so that the text has one spelling: that of libraries that follow the standard.
fn escaped(text: &str, which: &str) -> String {
    let mut one = String::with_capacity(text.len());
    for character in text.chars() {
        if which.contains(character) {
            // Writing to a string cannot fail.
            let _ = write!(one, "%{:02X}", u32::from(character));
        } else {
            one.push(character);
        }
    }
    one
}

/// Returns the bytes that are escaped in `text`.
fn escapes(text: &str) -> impl Iterator<Item = Result<u8, DestinationError>> {
    text.split('%').skip(1).map(|after| {
        let digits = after.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or(DestinationError::PathEscape)
    })
}

/// Returns whether some servers read the byte as an end of the path, or as the start of an overlong slash or dot.
/// Overlong encodings start with 0xc0 or 0xc1, which never occur in UTF-8.
fn hides(escaped: u8) -> bool {
    matches!(escaped, 0xc0 | 0xc1) || escaped.is_ascii_control()
}

/// Returns whether any server reads the segment as `.` or `..`. Some ignore the text after a semicolon, and some decode
/// an escaped slash.
fn leads_elsewhere(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".").replace("%3b", ";");
    let mut parts = plain.split("%2f").flat_map(|part| part.split("%5c"));
    parts.any(|part| matches!(part.split(';').next(), Some("." | "..")))
}

/// Returns whether a path contains an escaped slash or backslash. Some servers decode it and others do not, so a prefix
/// cannot be compared.
pub(crate) fn hides_a_separator(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.contains("%2f") || path.contains("%5c")
}

/// Returns whether a text is a plain path without a query.
pub(crate) fn is_plain_path(text: &str) -> bool {
    !hides_a_separator(text) && read(text).is_ok_and(|(_, query)| query.is_none())
}
