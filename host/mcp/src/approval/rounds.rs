//! Questions to a client that nobody can ask but by a result: the call waits while its request is answered with the
//! question, and the client makes the same request again with its user's answer and the state it was given.
//!
//! The state names one waiting call, is sealed with a key of this process, holds for the principal, the tool and the
//! arguments it was given for, and finds its call once: the call is taken from where it waits.

use super::follow::Spoken;
use super::running::{At, Running};
use super::{Called, Shelf, answer, form, lifetime};
use portcullis::approvals::Subject;
use portcullis::{Answer, Question};
use rmcp::ErrorData;
use rmcp::model::{InputRequests, InputRequiredResult, RequestStateCodec, SealOptions};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The key of a question that has no better one.
const KEY: &str = "approval";

/// The longest name that serves as a key, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// What the seal is for: no other use of the key can be taken for it.
const PURPOSE: &str = "portcullis tools/call approval";

/// The calls whose clients were sent away with a question.
pub(crate) struct Waiting {
    calls: Shelf<Asked>,
    /// None where the system gives no randomness: no client is then sent away.
    codec: Option<RequestStateCodec>,
}

/// A call, and the question that its client took away.
struct Asked {
    running: Running,
    question: Arc<Question>,
}

impl Default for Waiting {
    fn default() -> Self {
        let mut key = [0_u8; RequestStateCodec::MIN_KEY_LENGTH];
        let codec = getrandom::fill(&mut key).ok().and_then(|()| RequestStateCodec::try_new(key).ok());
        Self { calls: Shelf::default(), codec }
    }
}

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

/// Goes on with the call that a state names, after giving the answer that came with it.
///
/// # Errors
/// The state is none of ours, was given for another request, was used, or its call is gone.
pub(super) async fn resume(spoken: &Spoken<'_>) -> Result<Called, ErrorData> {
    let Some(Asked { running, question }) = taken(spoken) else {
        let message = "this requestState belongs to no call that waits: it was altered, given for another request, used \
                       before, or its time is over; make the call again without it";
        return Err(ErrorData::invalid_params(message, None));
    };
    let Some(answer) = response(spoken, &question).filter(|_| spoken.client.answers) else {
        // Nothing was answered here. Where nobody else has answered either, it is asked again.
        return spoken.follow(running, None).await;
    };
    let is_open = matches!(running.stage().at, At::Asking(open) if open.id == question.id);
    if is_open {
        answer::give(spoken.server, &spoken.named.caller.principal, &question, answer).await?;
    }
    spoken.follow(running, Some(&question)).await
}

fn taken(spoken: &Spoken<'_>) -> Option<Asked> {
    let waiting = &spoken.server.inner().approvals;
    let state = spoken.params.request_state.as_deref()?;
    let id = waiting.codec.as_ref()?.open_with(state, &bound(spoken)).ok()?;
    waiting.calls.take(&spoken.named.caller.principal, std::str::from_utf8(&id).ok()?)
}

/// The answer that came with the state.
fn response(spoken: &Spoken<'_>, question: &Question) -> Option<Answer> {
    answer::read(spoken.params.input_responses.as_ref()?.get(&key(question))?, question)
}

/// What a state holds for: this principal, tool and arguments.
fn bound(spoken: &Spoken<'_>) -> Vec<u8> {
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
fn key(question: &Question) -> String {
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
