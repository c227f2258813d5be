//! What is kept of arguments and answers: their digests, and the texts themselves only where the policy says so.

use crate::text::{cut, hex};
use portcullis_policy::Payloads;
use portcullis_sandbox::{Output, Part};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The longest payload that is kept, in bytes. Two of them, with every byte an escape of six, fit a line with room for
/// the rest of it.
const KEPT_BYTES_MAX: usize = 6 * 1024;

/// An answer, as the record has it.
#[derive(Serialize)]
pub(super) struct KeptOutput {
    pub(super) output_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<String>,
}

/// The arguments, where they are kept.
pub(super) fn arguments(payloads: Payloads, canonical: &str) -> Option<String> {
    match payloads {
        Payloads::Keep => Some(cut(canonical, KEPT_BYTES_MAX).to_owned()),
        Payloads::Digest => None,
    }
}

/// The answer. Where it has parts, each goes into the digest with its kind, its length and its name.
pub(super) fn output(payloads: Payloads, output: &Output) -> KeptOutput {
    let (text, digest) = match output {
        Output::Text(text) => (Some(text), Sha256::digest(text.as_bytes())),
        Output::Json(json) => (Some(json), Sha256::digest(json.as_bytes())),
        Output::Parts(parts) => (None, parts.iter().fold(Sha256::new(), with_part).finalize()),
    };
    let kept = match payloads {
        Payloads::Keep => text.map(|text| cut(text, KEPT_BYTES_MAX).to_owned()),
        Payloads::Digest => None,
    };
    KeptOutput { output_sha256: hex(&digest), output: kept }
}

fn with_part(mut digest: Sha256, part: &Part) -> Sha256 {
    let (kind, name, bytes): (&str, Option<&String>, &[u8]) = match part {
        Part::Text(text) => ("text", None, text.as_bytes()),
        Part::Image(blob) => ("image", blob.name.as_ref(), &blob.data),
        Part::File(blob) => ("file", blob.name.as_ref(), &blob.data),
    };
    // A name holds no line feed.
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    digest.update(format!("{kind} {}{name}\n", bytes.len()));
    digest.update(bytes);
    digest
}
