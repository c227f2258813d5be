//! Continues a call when its client retries the request with an answer.

use super::answer;
use super::called::Called;
use super::rounds::{bound, key};
use super::spoken::Spoken;
use super::stage::CallPhase;
use super::waiting::ParkedCall;
use portcullis::{Answer, Question};
use rmcp::ErrorData;

/// Records the answer that came with a state, and continues the call that the state names.
///
/// # Errors
/// The state is not from this process, is for another request, was already used, or its call is over.
pub(super) async fn resume(spoken: &Spoken<'_>) -> Result<Called, ErrorData> {
    let Some(ParkedCall { running, question }) = taken(spoken) else {
        let message = "no waiting call matches this requestState: it was altered, is for another request, was already \
                       used, or has expired. Make the call again without requestState";
        return Err(ErrorData::invalid_params(message, None));
    };
    let Some(answer) = response(spoken, &question).filter(|_| spoken.client.answers) else {
        // The client sent no answer. If no other channel has answered either, the client is asked again.
        return spoken.follow(running, None).await;
    };
    let is_open = matches!(running.stage().at, CallPhase::Asking(open) if open.id == question.id);
    if is_open {
        answer::give(spoken.server, &spoken.named.caller.principal, &question, answer).await?;
    }
    spoken.follow(running, Some(&question)).await
}

fn taken(spoken: &Spoken<'_>) -> Option<ParkedCall> {
    let waiting = &spoken.server.inner().approvals;
    let state = spoken.params.request_state.as_deref()?;
    let id = waiting.codec.as_ref()?.open_with(state, &bound(spoken)).ok()?;
    waiting.calls.take(&spoken.named.caller.principal, std::str::from_utf8(&id).ok()?)
}

/// Returns the answer that came with the state.
fn response(spoken: &Spoken<'_>, question: &Question) -> Option<Answer> {
    answer::read(spoken.params.input_responses.as_ref()?.get(&key(question))?, question)
}
