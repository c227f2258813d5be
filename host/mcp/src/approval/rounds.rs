//! Approval requests to a client that can only be asked by a result. The result holds the form and a state, and the
//! call waits. The client retries the request with its user's answer and the state.
//!
//! The state names one waiting call and is sealed with a key of this process. It is valid once, for the same principal,
//! tool and arguments.

use super::lifetime::lifetime;
use super::running::RunningCall;
use super::session::SessionEvent;
use super::spoken::Spoken;
use super::{answer, form};
use portcullis::approvals::Subject;
use portcullis::{Answer, Question};
use rmcp::ErrorData;
use rmcp::model::{InputRequests, InputRequiredResult, SealOptions};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The default key of an approval request.
const KEY: &str = "approval";

/// Maximum length of a name that is used as a key, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// The purpose of the seal. It separates this use of the key from any other.
const PURPOSE: &str = "portcullis tools/call approval";

/// Keeps a call until its client retries the request, and returns the result that asks the client. Gives the call back
/// if that is not possible.
pub(super) fn park(
    spoken: &Spoken<'_>,
    running: RunningCall,
    question: &Question,
) -> Result<InputRequiredResult, RunningCall> {
    let waiting = &spoken.server.inner().approvals;
    let Some(codec) = &waiting.codec else { return Err(running) };
    let time = lifetime(spoken.server, spoken.named);
    let id = waiting.calls.put(&spoken.named.caller.principal, running, time, RunningCall::kept)?;
    let bound = bound(spoken);
    let state = codec.seal_with(id.as_bytes(), &SealOptions::new().associated_data(&bound).ttl(time));
    let requests: InputRequests = [(key(question), form::form(question))].into_iter().collect();
    Ok(InputRequiredResult::new(Some(requests), Some(state)))
}

/// Takes the call that the request's state names, with what the request brings.
///
/// # Errors
/// The state is not from this process, is for another request, was already used, or its call has expired.
pub(super) fn retry(spoken: &Spoken<'_>) -> Result<(RunningCall, SessionEvent), ErrorData> {
    let Some((mut running, question)) = taken(spoken) else {
        let message = "no waiting call matches this requestState: it was altered, is for another request, was already \
                       used, or has expired. Make the call again without requestState";
        return Err(ErrorData::invalid_params(message, None));
    };
    let answer = response(spoken, &question).filter(|_| spoken.client.answers);
    let news = spoken.news(Some(running.phase()));
    Ok((running, SessionEvent::Retried(answer, news)))
}

fn taken(spoken: &Spoken<'_>) -> Option<(RunningCall, Arc<Question>)> {
    let waiting = &spoken.server.inner().approvals;
    let state = spoken.params.request_state.as_deref()?;
    let id = waiting.codec.as_ref()?.open_with(state, &bound(spoken)).ok()?;
    let running = waiting.calls.take(&spoken.named.caller.principal, std::str::from_utf8(&id).ok()?)?;
    let question = running.parked()?;
    Some((running, question))
}

/// Returns the answer that came with the state.
fn response(spoken: &Spoken<'_>, question: &Question) -> Option<Answer> {
    answer::read(spoken.params.input_responses.as_ref()?.get(&key(question))?, question)
}

/// Returns the digest that binds a state to this principal, tool and arguments.
fn bound(spoken: &Spoken<'_>) -> Vec<u8> {
    // Serializing a map of JSON values cannot fail, and its keys always have the same order.
    let arguments = spoken.params.arguments.as_ref().map(|arguments| serde_json::to_vec(arguments).unwrap_or_default());
    let mut bound = Sha256::new();
    let (principal, tool) = (spoken.named.caller.principal.to_string(), spoken.named.tool.name().to_string());
    for part in [PURPOSE.as_bytes(), principal.as_bytes(), tool.as_bytes(), &arguments.unwrap_or_default()] {
        bound.update((part.len() as u64).to_be_bytes());
        bound.update(part);
    }
    bound.finalize().to_vec()
}

/// Returns the key of an approval request: the requested resource, if it is a plain name. The key is only for a
/// client's log. The state identifies the request.
fn key(question: &Question) -> String {
    let is_plain = |name: &str| {
        let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        name.len() <= KEY_BYTES_MAX
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(letters)
    };
    match &question.subject {
        Subject::Resource { resource, .. } if is_plain(resource) => resource.clone(),
        Subject::Resource { .. } | Subject::Call | Subject::Repeat | Subject::Calls(_) => KEY.to_owned(),
    }
}
