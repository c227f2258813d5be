//! Binds an answer to what its page showed.
//!
//! A page carries a digest of the whole request: arguments, change, handles, reason and offers. The answer brings it
//! back. The console computes it again and refuses an answer whose request looks different now.

use portcullis::Question;
use sha2::{Digest, Sha256};

/// Returns the digest of everything that an approver is shown.
pub(crate) fn proof(question: &Question) -> String {
    // Serializing texts and lists cannot fail. If it did, no page would have the empty proof.
    let text = serde_json::to_string(question).unwrap_or_default();
    data_encoding::HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
}

/// An answer to one request, as a form names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProvenRequest {
    pub(crate) id: String,
    pub(crate) proof: String,
}

impl ProvenRequest {
    /// Formats it for a form.
    pub(crate) fn field(question: &Question) -> String {
        format!("{}:{}", question.id, proof(question))
    }

    /// Parses the field of a form.
    pub(crate) fn parse(field: &str) -> Option<Self> {
        let (id, proof) = field.split_once(':')?;
        Some(Self { id: id.to_owned(), proof: proof.to_owned() })
    }
}
