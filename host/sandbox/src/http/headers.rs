//! Which headers a guest may send, and which the host sets.

use super::encoding::{is_unreserved, percent_decoded};
use super::error::RequestRefusal;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, RANGE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use portcullis_policy::{HttpBinding, SecretSlot, is_reserved_header, is_same_header};
use wasmtime_wasi_http::DEFAULT_FORBIDDEN_HEADERS;

/// Headers that only the host may set, in addition to those that wasmtime forbids.
const KEPT: [&str; 8] = [
    // The host asks only for codings that it can decode within limits.
    "accept-encoding",
    // It starts a handshake with the server (`100 Continue`), which guests do not support.
    "expect",
    // Never sent, because it would tell a server which pages a plugin fetched before.
    "referer",
    // These control the framing of a message, which the host decides.
    "te",
    "trailer",
    // With these headers, some servers use another method than the checked one.
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// The prefix of headers for a proxy. No request goes through one.
const KEPT_PREFIX: &str = "proxy-";

/// Maximum length of all headers of a request together, in bytes: what servers accept.
const HEADERS_BYTES_MAX: usize = 32 * 1024;

/// The default user agent.
const AGENT: &str = concat!("portcullis/", env!("CARGO_PKG_VERSION"));

/// Returns whether no guest may set a header, whatever is granted.
pub(super) fn is_kept(name: &HeaderName) -> bool {
    let kept = |header: &str| is_same_header(header, name.as_str());
    let for_a_proxy = name.as_str().get(..KEPT_PREFIX.len()).is_some_and(|begin| is_same_header(KEPT_PREFIX, begin));
    for_a_proxy
        || DEFAULT_FORBIDDEN_HEADERS.iter().any(|header| kept(header.as_str()))
        || KEPT.iter().any(|header| kept(header))
}

/// Checks the headers that a guest wants to send.
pub(super) fn check(
    headers: &HeaderMap,
    binding: &HttpBinding,
    slot: Option<&SecretSlot>,
) -> Result<(), RequestRefusal> {
    for name in headers.keys() {
        let own = slot.and_then(SecretSlot::header);
        if own.is_some_and(|header| is_same_header(header, name.as_str())) {
            return Err(RequestRefusal::SecretHeader(name.to_string()));
        }
        // Allowed without a grant, because libraries add it automatically. The host checks it below.
        if name == CONTENT_LENGTH {
            continue;
        }
        if is_kept(name) || is_reserved_header(name.as_str()) {
            return Err(RequestRefusal::Header(super::error::bounded(name.as_str())));
        }
        if !binding.allows_header(name.as_str()) {
            return Err(RequestRefusal::UnlistedHeader(super::error::bounded(name.as_str())));
        }
    }
    if headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>() > HEADERS_BYTES_MAX {
        return Err(RequestRefusal::LongHeaders(HEADERS_BYTES_MAX));
    }
    // With two lengths, or one that servers read differently, a server could see another request in the body.
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    if lengths.next().is_none_or(|value| length(value).is_some()) && lengths.next().is_none() {
        Ok(())
    } else {
        Err(RequestRefusal::ContentLength)
    }
}

/// Parses a content length. Returns `None` unless it is written as a plain number.
pub(super) fn length(value: &HeaderValue) -> Option<u64> {
    let text = value.to_str().ok()?;
    let number = text.parse().ok()?;
    // `parse` also accepts signs and leading zeros, so compare with the canonical form.
    (u64::to_string(&number) == text).then_some(number)
}

/// Checks that a guest does not set the query parameter of a secret, in any spelling that a server may accept for it.
pub(super) fn check_query(query: Option<&str>, slot: &SecretSlot) -> Result<(), RequestRefusal> {
    let SecretSlot::Query { name } = slot else { return Ok(()) };
    let wanted = parameter(name.as_bytes());
    // Some servers separate parameters by a semicolon, too.
    let mut names = query.unwrap_or_default().split(['&', ';']);
    let set = names.any(|pair| {
        let spelt = pair.split_once('=').map_or(pair, |(spelt, _)| spelt);
        parameter(&percent_decoded(spelt)) == wanted
    });
    if set { Err(RequestRefusal::SecretParameter(name.clone())) } else { Ok(()) }
}

/// Normalizes a parameter's name as the most lenient servers do. It ignores case, surrounding spaces and a subscript,
/// and treats the characters that cannot be in a variable's name as equal.
fn parameter(name: &[u8]) -> Vec<u8> {
    let plain = name.split(|byte| matches!(byte, b'[' | b'\0')).next().unwrap_or_default().trim_ascii();
    let like_a_variable = |byte: &u8| match byte {
        b'.' | b' ' | b'-' => b'_',
        other => other.to_ascii_lowercase(),
    };
    plain.iter().map(like_a_variable).collect()
}

/// Appends a parameter to a path with query.
pub(super) fn append_parameter(target: &mut String, name: &str, value: &str) {
    let encoded =
        |text: &str| super::encoding::percent(text.as_bytes(), super::encoding::HexCase::Upper, is_unreserved);
    target.push(if target.contains('?') { '&' } else { '?' });
    target.push_str(&encoded(name));
    target.push('=');
    target.push_str(&encoded(value));
}

/// Adds the headers that the host sets in every request.
pub(super) fn complete(headers: &mut HeaderMap) {
    // A range of a compressed body cannot be decoded, so ask for an uncompressed one.
    let coding = if headers.contains_key(RANGE) { "identity" } else { "gzip" };
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(coding));
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
    // Set later, from the checked destination.
    headers.remove(HOST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_cannot_set_headers_that_control_the_destination_or_framing() {
        let kept = ["host", "connection", "transfer-encoding", "upgrade", "te", "trailer", "expect", "referer"];
        let more = ["proxy-authorization", "proxy-anything", "accept-encoding", "x-http-method-override", "keep-alive"];
        for name in kept.iter().chain(&more) {
            for spelling in [name.to_string(), name.replace('-', "_"), name.replace('-', "."), name.replace('-', "~")] {
                assert!(is_kept(&HeaderName::try_from(&spelling).unwrap()), "{spelling}");
            }
        }
        for name in ["accept", "authorization", "cookie", "content-length", "content-type", "user-agent", "x-a"] {
            assert!(!is_kept(&HeaderName::from_static(name)), "{name}");
        }
    }

    #[test]
    fn a_guest_cannot_set_the_parameter_of_a_secret_in_any_spelling() {
        let slot = SecretSlot::Query { name: "api_key".to_owned() };
        let taken = [
            "api_key=1",
            "a=b&api_key=1",
            "api_key",
            "%61pi_key=1",
            "a;api_key=1",
            "API_KEY=1",
            "api%5fkey=1",
            "api%5Fkey",
            "+api_key=1",
            "api_key[]=1",
            "api_key%5B0%5D=1",
            "api.key=1",
            "api+key=1",
            "api_key%00x=1",
            "&&api_key=",
        ];
        for query in taken {
            assert!(check_query(Some(query), &slot).is_err(), "{query}");
        }
        for query in [None, Some(""), Some("a=api_key"), Some("xapi_key=1"), Some("api_keys=1"), Some("api%255fkey=1")]
        {
            assert!(check_query(query, &slot).is_ok(), "{query:?}");
        }
    }

    #[test]
    fn an_appended_parameter_is_encoded() {
        let mut target = "/a".to_owned();
        append_parameter(&mut target, "k y", "1&x=2#é");
        append_parameter(&mut target, "z", "?");
        assert_eq!(target, "/a?k%20y=1%26x%3D2%23%C3%A9&z=%3F");
    }
}
