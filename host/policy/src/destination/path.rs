//! Path and query of a request, held to a form that every reader reads alike.
//!
//! A path rule compares segments, so nothing may hide where a segment begins or ends, or that it leads upwards.

use std::fmt::Write as _;

use super::DestinationError;

/// What else is escaped in a path: of the path percent-encode set of the WHATWG URL standard what is visible ASCII.
const ESCAPED_IN_PATHS: &str = "\"<>`{}";
/// The same for a query: the standard's special-query percent-encode set.
const ESCAPED_IN_QUERIES: &str = "\"<>'";

/// Reads what a request line has after the host, and parts path and query.
pub(super) fn read(text: &str) -> Result<(String, Option<String>), DestinationError> {
    let text = if text.is_empty() { "/" } else { text };
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
    for escaped in escapes(query.unwrap_or_default()) {
        escaped?;
    }
    Ok((escaped(path, ESCAPED_IN_PATHS), query.map(|query| escaped(query, ESCAPED_IN_QUERIES))))
}

/// `text` with these characters escaped, so that it has one spelling: that of libraries which follow the standard.
fn escaped(text: &str, which: &str) -> String {
    let mut one = String::with_capacity(text.len());
    for character in text.chars() {
        if which.contains(character) {
            let _ = write!(one, "%{:02X}", u32::from(character));
        } else {
            one.push(character);
        }
    }
    one
}

/// The bytes that are escaped in `text`.
fn escapes(text: &str) -> impl Iterator<Item = Result<u8, DestinationError>> {
    text.split('%').skip(1).map(|after| {
        let digits = after.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or(DestinationError::PathEscape)
    })
}

/// Whether some servers read the byte as an end, or as the beginning of a slash or dot in an overlong spelling, which
/// 0xc0 and 0xc1 are, and nothing else that is UTF-8.
fn hides(escaped: u8) -> bool {
    matches!(escaped, 0xc0 | 0xc1) || escaped.is_ascii_control()
}

/// Whether a segment is `.` or `..` to anybody. Some servers leave out what follows a semicolon, and some take an
/// escaped slash for one.
fn leads_elsewhere(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".").replace("%3b", ";");
    let mut parts = plain.split("%2f").flat_map(|part| part.split("%5c"));
    parts.any(|part| matches!(part.split(';').next(), Some("." | "..")))
}

/// Whether a path holds an escaped slash or backslash: some servers take it for one, and some for a part of a segment,
/// so that nobody can say what a prefix covers.
pub(crate) fn hides_a_separator(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.contains("%2f") || path.contains("%5c")
}

/// Whether a text is a path without query in the form that destinations have.
pub(crate) fn is_plain_path(text: &str) -> bool {
    !hides_a_separator(text) && read(text).is_ok_and(|(_, query)| query.is_none())
}
