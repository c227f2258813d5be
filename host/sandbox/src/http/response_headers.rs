//! Cleans the headers of a response for the guest.

use super::call::NetworkCall;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue};

/// Removes the headers that are wrong after decoding and redacting, and the plugin's secrets, from a response.
pub(super) fn clean(headers: &mut HeaderMap, decoded: bool, call: &NetworkCall) {
    if decoded {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    let Some(redactor) = call.incoming() else { return };
    // A secret that is replaced later changes the length of the body.
    headers.remove(CONTENT_LENGTH);
    let named: Vec<_> = headers.keys().filter(|name| redactor.name(name.as_str()).is_some()).cloned().collect();
    for name in named {
        headers.remove(name);
        call.count_redactions(1);
    }
    for value in headers.values_mut() {
        let Some((redacted, found)) = redactor.bytes(value.as_bytes()) else { continue };
        call.count_redactions(found);
        *value = HeaderValue::from_bytes(&redacted).unwrap_or(HeaderValue::from_static(super::redact::REPLACEMENT));
    }
}

/// Copies the values out of the connection's buffer, which would otherwise stay allocated as long as any of them.
pub(super) fn detach(headers: &mut HeaderMap) {
    for value in headers.values_mut() {
        // This never fails, because the bytes come from a valid value.
        if let Ok(copy) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = copy;
        }
    }
}
