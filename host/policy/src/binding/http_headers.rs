//! The headers of a guest's requests: which the host keeps for itself, and which a policy must list.

use super::BindingError;

/// Maximum bytes of a header name: longer than any registered one.
const HEADER_BYTES: usize = 64;

/// Headers that could make a request go or end elsewhere than the host has checked.
const RESERVED_HEADERS: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that a guest can set only if the policy lists them: its own credentials, and headers from which servers and
/// proxies take another host, path or client address than those of the request.
const LISTED_HEADERS: [&str; 10] = [
    "authorization",
    "forwarded",
    "true-client-ip",
    "x-authorization",
    "x-client-ip",
    "x-forwarded",
    "x-host",
    "x-host-override",
    "x-http-host-override",
    "x-real-ip",
];

/// Prefixes of the names of such headers.
const LISTED_HEADER_PREFIXES: [&str; 5] = ["x-envoy-", "x-forwarded-", "x-original-", "x-override-", "x-rewrite-"];

/// Returns whether only the host sets this header, because it decides where a request goes or ends.
pub fn is_reserved_header(name: &str) -> bool {
    RESERVED_HEADERS.iter().any(|header| is_same_header(header, name))
}

/// Returns whether the most lenient servers read two names as the same header. They turn a header into the name of a
/// variable: without case, and with one character for all that such a name cannot contain (RFC 3875 section 4.1.18).
pub fn is_same_header(one: &str, other: &str) -> bool {
    one.bytes().map(folded).eq(other.bytes().map(folded))
}

/// Returns whether a guest may set a header only if the policy lists it.
pub(super) fn must_be_listed(name: &str) -> bool {
    // The name is a guest's text. A slice could end within a character and panic, so `get` is used.
    let begins = |prefix: &&str| name.get(..prefix.len()).is_some_and(|begin| is_same_header(prefix, begin));
    LISTED_HEADERS.iter().any(|header| is_same_header(header, name)) || LISTED_HEADER_PREFIXES.iter().any(begins)
}

fn folded(byte: u8) -> u8 {
    if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'-' }
}

pub(crate) fn read_header(text: &str) -> Result<String, BindingError> {
    let spelt = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !spelt || !(1..=HEADER_BYTES).contains(&text.len()) {
        return Err(BindingError::Header);
    }
    if is_reserved_header(text) { Err(BindingError::ReservedHeader) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_headers_are_refused() {
        for text in ["", "Authorization", "a b", "a:", "a\r\n", ":authority", "é"] {
            assert_eq!(read_header(text), Err(BindingError::Header), "{text:?}");
        }
        for text in RESERVED_HEADERS {
            assert_eq!(read_header(text), Err(BindingError::ReservedHeader), "{text:?}");
        }
    }
}
