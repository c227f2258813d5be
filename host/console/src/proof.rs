//! Binds an answer to what its page showed.
//!
//! A page carries a digest of the whole request: arguments, change, handles, reason and offers. The answer brings it
//! back, and has no effect if the request looks different now.

use portcullis::Question;
use portcullis::approvals::ShownDigest;

/// An answer to one request, as a form names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProvenRequest {
    pub(crate) id: String,
    pub(crate) shown: ShownDigest,
}

impl ProvenRequest {
    /// Formats it for a form.
    pub(crate) fn field(question: &Question) -> String {
        format!("{}:{}", question.id, ShownDigest::of(question))
    }

    /// Parses the field of a form.
    pub(crate) fn parse(field: &str) -> Option<Self> {
        let (id, digest) = field.split_once(':')?;
        Some(Self { id: id.to_owned(), shown: ShownDigest::from_text(digest) })
    }
}
