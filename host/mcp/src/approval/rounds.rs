//! Approval requests to a client that can only be asked by a result. The result holds the form and a state, and the
//! call waits. The client retries the request with its user's answer and the state.
//!
//! The state names one waiting call and is sealed. It is valid once, for the same principal, tool and arguments. Its
//! key is one of this process, if the call is in its memory. If hosts share a ledger, they have the same key, and the
//! client can reach any of them.

use super::lifetime::lifetime;
use super::running::RunningCall;
use super::session::SessionEvent;
use super::shared::{SharedShelf, unavailable};
use super::spoken::Spoken;
use super::{answer, form};
use portcullis::approvals::Subject;
use portcullis::shared_calls::{SharedCall, SharedCallKind};
use portcullis::{Answer, Question};
use rmcp::ErrorData;
use rmcp::model::{InputRequests, InputRequiredResult, RequestStateCodec, SealOptions};
use sha2::{Digest, Sha256};
use std::fmt;

/// The default key of an approval request.
const KEY: &str = "approval";

/// Maximum length of a name that is used as a key, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// The purpose of the seal. It separates this use of the key from any other.
const PURPOSE: &str = "portcullis tools/call approval";

/// Keeps a call until its client retries the request, and returns the result that asks the client. Gives the call back
/// if that is not possible.
pub(super) async fn park(
    spoken: &Spoken<'_>,
    running: RunningCall,
    question: &Question,
) -> Result<InputRequiredResult, RunningCall> {
    let (time, bound, principal) =
        (lifetime(spoken.server, spoken.named), bound(spoken), &spoken.named.caller.principal);
    let options = SealOptions::new().associated_data(&bound);
    let state = match spoken.server.shared(spoken.cx) {
        None => {
            let waiting = &spoken.server.inner().approvals;
            let Some(codec) = &waiting.codec else { return Err(running) };
            let id = waiting.calls.put(principal, running, time, RunningCall::kept)?;
            codec.seal_with(id.as_bytes(), &options.ttl(time))
        }
        Some(shelf) => {
            let Some(codec) = &shelf.codec else { return Err(running) };
            let call = shelf.keep((SharedCallKind::Round, principal, spoken.named.tool.name()), running, time).await?;
            // The ledger has the expiry, by a clock that all hosts share.
            codec.seal_with(SharedRound::next(&call, question).to_string().as_bytes(), &options)
        }
    };
    let requests: InputRequests = [(key(question), form::form(question))].into_iter().collect();
    Ok(InputRequiredResult::new(Some(requests), Some(state)))
}

/// Takes the call that the request's state names, with what the request brings.
///
/// # Errors
/// The state is not of this server, is for another request, was already used, or its call has expired. Or the ledger
/// that has the call cannot be used, and the state still counts.
pub(super) async fn retry(spoken: &Spoken<'_>) -> Result<(RunningCall, SessionEvent), ErrorData> {
    let taken = match spoken.server.shared(spoken.cx) {
        None => taken(spoken),
        Some(shelf) => taken_from_shared(spoken, shelf).await?,
    };
    let Some(mut running) = taken else {
        let message = "no waiting call matches this requestState: it was altered, is for another request, was already \
                       used, or has expired. Make the call again without requestState";
        return Err(ErrorData::invalid_params(message, None));
    };
    let news = spoken.news(Some(running.phase()));
    // Other channels have answered the request of a call that is not parked.
    let Some(question) = running.parked() else { return Ok((running, SessionEvent::Call(news))) };
    // A retry declares the abilities of its client anew, and its answer counts only if they still allow it.
    let answer = response(spoken, &question).filter(|_| spoken.client.answers);
    Ok((running, SessionEvent::Retried(answer, news)))
}

fn taken(spoken: &Spoken<'_>) -> Option<RunningCall> {
    let waiting = &spoken.server.inner().approvals;
    let id = opened(spoken, waiting.codec.as_ref())?;
    waiting.calls.take(&spoken.named.caller.principal, &id).filter(|running| running.parked().is_some())
}

/// Takes a call that may run on another host.
async fn taken_from_shared(spoken: &Spoken<'_>, shelf: &SharedShelf) -> Result<Option<RunningCall>, ErrorData> {
    let Some(round) = opened(spoken, shelf.codec.as_ref()).and_then(|text| SharedRound::parse(&text)) else {
        return Ok(None);
    };
    let (principal, time) = (&spoken.named.caller.principal, lifetime(spoken.server, spoken.named));
    let call = shelf.calls.take_turn(principal, (&round.id, round.round), time).await;
    let call = call.map_err(|error| unavailable(&error))?;
    Ok(call.map(|call| shelf.take_up(principal, &call, &round.question)))
}

/// Returns what the state of the request says, if this server or another host has sealed it for this request.
fn opened(spoken: &Spoken<'_>, codec: Option<&RequestStateCodec>) -> Option<String> {
    let opened = codec?.open_with(spoken.params.request_state.as_deref()?, &bound(spoken)).ok()?;
    String::from_utf8(opened).ok()
}

/// What a state says of a shared call: the call, the number of the client's request, and the approval request that the
/// client has received.
struct SharedRound {
    id: String,
    round: u64,
    question: String,
}

impl SharedRound {
    fn next(call: &SharedCall, question: &Question) -> Self {
        Self { id: call.id.clone(), round: call.round, question: question.id.clone() }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ').map(str::to_owned);
        let (id, round, question) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        parts.next().is_none().then_some(Self { id, round, question })
    }
}

impl fmt::Display for SharedRound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, round, question } = self;
        write!(formatter, "{id} {round} {question}")
    }
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
        // Without its length, the end of one part could pass for the beginning of the next.
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
