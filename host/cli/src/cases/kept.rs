//! What the host keeps of a call beside its reply: what it printed, and a text too long to be passed on.

use portcullis::outputs::{OutputError, Reader};
use portcullis::policy::Principal;
use portcullis::{Host, Output, Reply};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// How much of a kept text is read at once, in bytes.
const PIECE_BYTES: usize = 1024 * 1024;

/// The media type of a kept text.
const TEXT: &str = "text/plain";

/// What the record has of what a call printed, and of why it broke.
#[derive(Default)]
pub(super) struct Printed {
    pub(super) text: String,
    detail: String,
}

impl Printed {
    /// Both, in lines.
    pub(super) fn lines(&self) -> String {
        let parts = [self.text.as_str(), self.detail.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).map(|part| format!("{}\n", part.trim_end())).collect()
    }
}

/// What a call printed. The record is read whole: it is kept short.
pub(super) fn printed(host: &Host, reply: &Reply) -> Printed {
    let mut printed = Printed::default();
    let read = host.audit().read(|entry| {
        let member = |name: &str| entry.document.get(name).and_then(Value::as_str);
        if member("kind") == Some("outcome") && member("call") == Some(&reply.id) {
            let text = |name| member(name).unwrap_or_default().to_owned();
            printed = Printed { text: text("printed"), detail: text("detail") };
        }
        Ok(())
    });
    if let Err(error) = read {
        printed.detail = format!("the record cannot be read: {error}");
    }
    printed
}

/// A text of which a reply may hold the beginning alone.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub(super) sha256: String,
}

/// The text that a call has answered, as a whole; nothing where it has answered something else.
///
/// # Errors
/// It was kept and cannot be read.
pub(super) async fn whole(host: &Host, session: &str, reply: &Reply) -> Result<Option<Whole>, OutputError> {
    let Some(Output::Text(text)) = &reply.output else { return Ok(None) };
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    match &reply.reference {
        None => {
            hash.update(text);
            bytes = text.len() as u64;
        }
        // JSON of no promised form is cut like a text.
        Some(reference) if reference.media_type != TEXT => return Ok(None),
        Some(reference) => loop {
            let reader = Reader { session, principal: &Principal::default() };
            let piece = host.outputs().read(reader, &reference.id, bytes, PIECE_BYTES)?;
            if piece.is_empty() {
                break;
            }
            hash.update(&piece);
            bytes += piece.len() as u64;
            // A signal is heard between two pieces.
            tokio::task::yield_now().await;
        },
    }
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(Whole { bytes, sha256 }))
}
