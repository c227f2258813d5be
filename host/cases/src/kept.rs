//! What the host keeps of a call in addition to its reply: its printed output, and a text too long for the reply.

use data_encoding::HEXLOWER;
use portcullis::audit::Entry;
use portcullis::outputs::{OutputError, Reader};
use portcullis::policy::Principal;
use portcullis::text::WithCauses;
use portcullis::{Host, Output, Reply};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// How much of a kept text to read at once, in bytes.
const PIECE_BYTES: usize = 1024 * 1024;

/// The media type of a kept text.
const TEXT: &str = "text/plain";

/// A call's printed output and the cause of its failure, from the audit log.
#[derive(Default)]
pub(super) struct Printed {
    pub(super) text: String,
    detail: String,
}

impl Printed {
    /// Returns both as lines.
    pub(super) fn lines(&self) -> String {
        let parts = [self.text.as_str(), self.detail.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).map(|part| format!("{}\n", part.trim_end())).collect()
    }
}

/// Returns what a call printed. Reads the whole audit log, which is short in a test.
pub(super) async fn printed(host: &Host, reply: &Reply) -> Printed {
    let mut printed = Printed::default();
    let each = |entry: Entry| {
        let member = |name: &str| entry.document.get(name).and_then(Value::as_str);
        if member("kind") == Some("outcome") && member("call") == Some(&reply.id) {
            let text = |name| member(name).unwrap_or_default().to_owned();
            printed = Printed { text: text("printed"), detail: text("detail") };
        }
        Ok(())
    };
    if let Err(error) = host.audit().read(each).await {
        printed.detail = WithCauses(&error).to_string();
    }
    printed
}

/// A whole text. The reply may contain only its beginning.
#[derive(Debug)]
pub(super) struct WholeText {
    pub(super) bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub(super) sha256: String,
}

/// Returns the whole text of an answer. `None` if the answer is not a text.
///
/// # Errors
/// The kept text cannot be read.
pub(super) async fn whole(host: &Host, session: &str, reply: &Reply) -> Result<Option<WholeText>, OutputError> {
    let Some(Output::Text(text)) = &reply.output else { return Ok(None) };
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    match &reply.reference {
        None => {
            hash.update(text);
            bytes = text.len() as u64;
        }
        // JSON without an output schema is cut like a text, with another media type.
        Some(reference) if reference.media_type != TEXT => return Ok(None),
        Some(reference) => loop {
            // The calls of a case name no principal, so they have the default one.
            let reader = Reader { session, principal: &Principal::default() };
            let piece = host.outputs().read(reader, &reference.id, bytes, PIECE_BYTES).await?;
            if piece.is_empty() {
                break;
            }
            hash.update(&piece);
            bytes += piece.len() as u64;
        },
    }
    let sha256 = HEXLOWER.encode(&hash.finalize());
    Ok(Some(WholeText { bytes, sha256 }))
}
