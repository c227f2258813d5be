//! The digest of what the document says about a request.
//!
//! The host pins the definitions of the tools. A definition does not say where each argument is sent, and the document
//! can change after the host has pinned it. So each definition has the digest of its request, and a call compares it
//! with the document as it is then.

use std::fmt::Write as _;

use portcullis_sdk::serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::operation::Operation;

/// Bytes of the digest. A document cannot be made that has another request with the same 128 bits.
const DIGEST_BYTES: usize = 16;

/// Returns the digest of an operation's request as the text of `$comment`.
pub(crate) fn of(operation: &Operation<'_>) -> String {
    let parameters = operation.parameters.iter().map(|one| {
        json!([
            one.argument,
            one.name,
            format!("{:?} {:?}", one.location, one.style),
            one.explode,
            one.allows_reserved,
            one.is_json,
            one.is_required
        ])
    });
    let parameters: Vec<Value> = parameters.collect();
    let body = operation.body.as_ref().map(|body| json!([body.media_type, body.encoding]));
    let request = json!([operation.method.name(), operation.server, operation.path, parameters, body]);
    let digest = Sha256::digest(request.to_string());
    digest.iter().take(DIGEST_BYTES).fold("request ".to_owned(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
