//! Questions to a client that nobody can ask but by a result: the call waits while its request is answered with the
//! question, and the client makes the same request again with its user's answer and the state it was given.
//!
//! The state names one waiting call, is sealed with a key of this process, holds for the principal, the tool and the
//! arguments it was given for, and finds its call once: the call is taken from where it waits.

use super::form;
use super::lifetime::lifetime;
use super::running::Running;
use super::spoken::Spoken;
use super::waiting::Asked;
use portcullis::{Question, Subject};
use rmcp::model::{InputRequests, InputRequiredResult, SealOptions};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The key of a question that has no better one.
const KEY: &str = "approval";

/// The longest name that serves as a key, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// What the seal is for: no other use of the key can be taken for it.
const PURPOSE: &str = "portcullis tools/call approval";

/// Sends the client away with a question, while the call waits. Gives the call back where it cannot.
pub(super) fn ask(
    spoken: &Spoken<'_>,
    running: Running,
    question: &Arc<Question>,
) -> Result<InputRequiredResult, Running> {
    let waiting = &spoken.server.inner().approvals;
    let Some(codec) = &waiting.codec else { return Err(running) };
    let time = lifetime(spoken.server, spoken.named);
    let asked = Asked { running, question: Arc::clone(question) };
    let id = match waiting.calls.put(&spoken.named.caller.principal, asked, time) {
        Ok(id) => id,
        Err(asked) => return Err(asked.running),
    };
    let bound = bound(spoken);
    let state = codec.seal_with(id.as_bytes(), &SealOptions::new().associated_data(&bound).ttl(time));
    let requests: InputRequests = [(key(question), form::form(question))].into_iter().collect();
    Ok(InputRequiredResult::new(Some(requests), Some(state)))
}

/// What a state holds for: this principal, tool and arguments.
pub(super) fn bound(spoken: &Spoken<'_>) -> Vec<u8> {
    // A map of JSON values cannot fail to be written, and its keys stand in one order.
    let arguments = spoken.params.arguments.as_ref().map(|arguments| serde_json::to_vec(arguments).unwrap_or_default());
    let mut bound = Sha256::new();
    let (principal, tool) = (spoken.named.caller.principal.to_string(), spoken.named.tool.name().to_string());
    for part in [PURPOSE.as_bytes(), principal.as_bytes(), tool.as_bytes(), &arguments.unwrap_or_default()] {
        bound.update((part.len() as u64).to_be_bytes());
        bound.update(part);
    }
    bound.finalize().to_vec()
}

/// The key of a question: what the tool asks for, where that is a plain name. It is for a client's log; what counts is
/// the state.
pub(super) fn key(question: &Question) -> String {
    let is_plain = |name: &str| {
        let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        name.len() <= KEY_BYTES_MAX
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(letters)
    };
    match &question.subject {
        Subject::Resource { resource, .. } if is_plain(resource) => resource.clone(),
        Subject::Resource { .. } | Subject::Call | Subject::Repeat => KEY.to_owned(),
    }
}
