//! The arguments and answers in the audit log: always their digests, and their texts only if the policy says so.

use crate::text::{cut, hex};
use portcullis_definitions::manifest::{Output, Part};
use portcullis_policy::Payloads;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Maximum length of a stored payload, in bytes. An entry has room for two of them, even if JSON escapes every byte
/// with six characters.
const KEPT_BYTES_MAX: usize = 6 * 1024;

/// An answer as the audit log stores it.
#[derive(Serialize)]
pub(super) struct RecordedOutput {
    pub(super) output_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<String>,
}

/// Returns the arguments to store, if the policy keeps payloads.
pub(super) fn arguments(payloads: Payloads, canonical: &str) -> Option<String> {
    match payloads {
        Payloads::Keep => Some(cut(canonical, KEPT_BYTES_MAX).to_owned()),
        Payloads::Digest => None,
    }
}

/// Returns the answer to store. The digest of an answer with parts includes the kind, length and name of each part.
pub(super) fn output(payloads: Payloads, output: &Output) -> RecordedOutput {
    let (text, digest) = match output {
        Output::Text(text) => (Some(text), Sha256::digest(text.as_bytes())),
        Output::Json(json) => (Some(json), Sha256::digest(json.as_bytes())),
        Output::Parts(parts) => (None, parts.iter().fold(Sha256::new(), with_part).finalize()),
    };
    let kept = match payloads {
        Payloads::Keep => text.map(|text| cut(text, KEPT_BYTES_MAX).to_owned()),
        Payloads::Digest => None,
    };
    RecordedOutput { output_sha256: hex(&digest), output: kept }
}

fn with_part(mut digest: Sha256, part: &Part) -> Sha256 {
    let (kind, name, bytes): (&str, Option<&String>, &[u8]) = match part {
        Part::Text(text) => ("text", None, text.as_bytes()),
        Part::Image(blob) => ("image", blob.name.as_ref(), &blob.data),
        Part::File(blob) => ("file", blob.name.as_ref(), &blob.data),
    };
    // The line feed ends the header unambiguously, because a name contains none.
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    digest.update(format!("{kind} {}{name}\n", bytes.len()));
    digest.update(bytes);
    digest
}
