//! Takes the answers of a form: to one request, or to several that were reviewed together.

use crate::console::ConsoleState;
use crate::guard::ConsoleForm;
use crate::html::count;
use crate::notice::Notice;
use crate::pages::redirect;
use crate::proof::ProvenRequest;
use crate::resume::resume;
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use portcullis::approvals::{ApprovalError, CallSelection, Onward, ShownAnswer, Status};
use portcullis::text::WithCauses;
use portcullis::{Answer, Covers};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum requests of one form: a little more than one review shows.
const ANSWERS_MAX: usize = 256;

/// The note of a denial without a reason.
const NOTE_DEFAULT: &str = "the person said no";

/// What became of one answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answered {
    /// The call runs in the process that made it.
    RunsThere,
    /// The console runs the call.
    RunsHere,
    Denied,
    /// The request looks different now.
    Changed,
    /// Someone else answered first, with this result.
    Already(&'static str),
    /// The answer had no effect, for this reason.
    Failed(String),
}

/// Answers requests, each only if it is still what its page showed.
pub(crate) async fn answer(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    Extension(form): Extension<ConsoleForm>,
) -> Response {
    let requests: Vec<ProvenRequest> = form.all("request").filter_map(ProvenRequest::parse).take(ANSWERS_MAX).collect();
    let mut ended: BTreeMap<Answered, usize> = BTreeMap::new();
    for request in &requests {
        let answered = answer_one(&state, &session, &form, request).await;
        *ended.entry(answered).or_default() += 1;
    }
    for (answered, number) in &ended {
        state.sessions.notify(&session, notice(answered, *number, requests.len()));
    }
    match &requests[..] {
        [one] if ended.contains_key(&Answered::Changed) || ended.contains_key(&Answered::RunsHere) => {
            // Stay with this request: its page shows what has changed, or the reply of the call.
            redirect(&format!("/inbox/{}", one.id))
        }
        [one] => redirect(&next_after(&state, &one.id).await),
        _ => redirect("/inbox"),
    }
}

async fn answer_one(
    state: &Arc<ConsoleState>,
    session: &ConsoleSession,
    form: &ConsoleForm,
    request: &ProvenRequest,
) -> Answered {
    let answer = match selected(state, session, form, request).await {
        Ok(Some(answer)) => answer,
        Ok(None) => match given(form) {
            Some(answer) => answer,
            None => return Answered::Failed("the form has no such answer: load the page again".to_owned()),
        },
        Err(why) => return Answered::Failed(why),
    };
    match state.approvals_of(session).answer_as_shown(&request.id, &request.shown, &answer).await {
        Ok(ShownAnswer::Given(Onward::There)) => Answered::RunsThere,
        Ok(ShownAnswer::Given(Onward::Here)) => {
            resume(state, request.id.clone());
            Answered::RunsHere
        }
        Ok(ShownAnswer::Given(Onward::Ended)) => Answered::Denied,
        Ok(ShownAnswer::Changed) => Answered::Changed,
        Err(error) => refused(&error),
    }
}

/// Returns the answer of a form that selects some of several calls by their numbers. Returns `None` if it names no
/// number.
async fn selected(
    state: &ConsoleState,
    session: &ConsoleSession,
    form: &ConsoleForm,
    request: &ProvenRequest,
) -> Result<Option<Answer>, String> {
    let numbers = form.get("calls").trim();
    // A denial is about the whole request, whatever numbers are in the field.
    if numbers.is_empty() || form.get("answer") != "approve" {
        return Ok(None);
    }
    let open =
        state.approvals_of(session).question(&request.id).await.map_err(|error| WithCauses(&error).to_string())?;
    // If there is nothing to select from, no number is valid.
    let count = open.question.and_then(|question| question.selectable_calls()).unwrap_or(0);
    let calls = CallSelection::parse(numbers, count).map_err(|error| error.to_string())?;
    let note = form.get("note").trim();
    Ok(Some(Answer::Part { calls, note: (!note.is_empty()).then(|| note.to_owned()) }))
}

/// Returns the answer that a form gives.
fn given(form: &ConsoleForm) -> Option<Answer> {
    let covers = || match form.get("covers") {
        "" | "exact" => Some(Covers::Exact),
        offer => offer.parse().ok().map(Covers::Offer),
    };
    match (form.get("answer"), form.get("remember")) {
        ("approve", "" | "once") => Some(Answer::Yes),
        ("approve", "session") => covers().map(Answer::Session),
        ("approve", "always") => covers().map(Answer::Always),
        ("deny", _) => {
            let note = form.get("note").trim();
            let note = if note.is_empty() { NOTE_DEFAULT } else { note };
            Some(Answer::No { note: Some(note.to_owned()) })
        }
        _ => None,
    }
}

fn refused(error: &ApprovalError) -> Answered {
    match error {
        ApprovalError::Settled(status) => Answered::Already(already(*status)),
        ApprovalError::Expired => Answered::Already("expired"),
        error => Answered::Failed(WithCauses(error).to_string()),
    }
}

/// Says what became of a request that no longer waits.
fn already(status: Status) -> &'static str {
    match status {
        Status::Pending => "waiting",
        Status::Approved | Status::Running | Status::Done => "approved",
        Status::Rejected => "denied",
        Status::Expired => "expired",
        Status::Withdrawn => "withdrawn",
        Status::Lost => "lost with its process",
    }
}

fn notice(answered: &Answered, number: usize, of: usize) -> Notice {
    let requests = count(number, "request");
    let what = if of == 1 { String::new() } else { format!("{requests}: ") };
    match answered {
        Answered::RunsThere if of == 1 => Notice::done("Approved. The call runs in the process that made it."),
        Answered::RunsThere => {
            Notice::done(format!("{requests} approved. The calls run in the processes that made them."))
        }
        Answered::RunsHere if of == 1 => Notice::done("Approved. The process of the call has ended, so it runs here."),
        Answered::RunsHere => {
            Notice::done(format!("{requests} approved. Their processes have ended, so the calls run here."))
        }
        Answered::Denied if of == 1 => Notice::done("Denied."),
        Answered::Denied => Notice::done(format!("{requests} denied.")),
        Answered::Changed => {
            Notice::refused(format!("{what}Changed since you looked, so nothing was approved. Review it again."))
        }
        Answered::Already(how) => Notice::refused(format!("{what}Your answer came second: it was already {how}.")),
        Answered::Failed(why) => Notice::refused(format!("{what}Not answered: {why}.")),
    }
}

/// Returns the page of the request that follows one in the list, or the inbox.
async fn next_after(state: &ConsoleState, id: &str) -> String {
    let Ok(listing) = state.approvals.list().await else { return "/inbox".to_owned() };
    let mut waiting: Vec<_> = listing.questions.iter().filter(|open| open.status == Status::Pending).collect();
    waiting.sort_by(|one, other| (one.asked_at, &one.id).cmp(&(other.asked_at, &other.id)));
    // If the request cannot be read, begin with the first one of the list.
    let asked = state.approvals.question(id).await.map(|open| open.asked_at).unwrap_or_default();
    let after = waiting.iter().find(|open| (open.asked_at, open.id.as_str()) > (asked, id));
    after.or(waiting.last()).map_or_else(|| "/inbox".to_owned(), |open| format!("/inbox/{}", open.id))
}
