//! Continues a call whose client makes its request again with an answer.

use super::answer;
use super::called::Called;
use super::rounds::{bound, key};
use super::spoken::Spoken;
use super::stage::At;
use super::waiting::Asked;
use portcullis::{Answer, Question};
use rmcp::ErrorData;

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
