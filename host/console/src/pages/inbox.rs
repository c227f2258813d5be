//! The inbox: the requests that wait, and the selected one.

use super::frame::{Section, framed};
use super::{not_found, redirect, request, request_list};
use crate::console::ConsoleState;
use crate::query::PageQuery;
use crate::refusal::refusal;
use crate::session::ConsoleSession;
use crate::words::sentence;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use http::StatusCode;
use maud::html;
use portcullis::approvals::{ApprovalError, OpenQuestion, Status};
use portcullis::text::WithCauses;
use std::sync::Arc;

/// Shows the oldest request that waits.
pub(crate) async fn first(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
) -> Response {
    let waiting = match waiting(&state).await {
        Ok(waiting) => waiting,
        Err(error) => return unreadable(&error),
    };
    if let Some(first) = waiting.first() {
        return redirect(&format!("/inbox/{}", first.id));
    }
    let content = html! {
        div.inbox {
            (request_list::shown(&waiting, None))
            article.nothing aria-label="Request" {
                p.big { "Nothing waits for you." }
                p { "A call that the policy asks about appears here as soon as an agent makes it." }
            }
        }
    };
    framed(&state, &session, Section::Inbox, "Inbox", &content).await
}

/// Shows one request beside the list.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    Path(id): Path<String>,
    query: RawQuery,
) -> Response {
    let query = PageQuery::of(query);
    let open = match state.approvals.question(&id).await {
        Ok(open) => open,
        Err(ApprovalError::Unknown) => return not_found().await,
        Err(error) => return unreadable(&error),
    };
    let waiting = match waiting(&state).await {
        Ok(waiting) => waiting,
        Err(error) => return unreadable(&error),
    };
    let extent = if query.get("show") == "all" { request::Extent::Whole } else { request::Extent::Screen };
    let title = open.question.as_ref().map_or_else(
        || "Inbox".to_owned(),
        |question| {
            let sentence = sentence(question);
            format!("{} {} {}", sentence.who, sentence.wants, sentence.target.unwrap_or_default())
        },
    );
    let content = html! {
        div.inbox {
            (request_list::shown(&waiting, Some(&id)))
            (request::article(&state, &session, &open, extent))
        }
    };
    framed(&state, &session, Section::Inbox, &crate::html::cell(&title), &content).await
}

/// Returns the requests that wait for an answer, the oldest first, so that new ones come last.
pub(crate) async fn waiting(state: &ConsoleState) -> Result<Vec<OpenQuestion>, ApprovalError> {
    let listing = state.approvals.list().await?;
    let mut waiting: Vec<_> = listing.questions.into_iter().filter(|open| open.status == Status::Pending).collect();
    waiting.sort_by(|one, other| (one.asked_at, &one.id).cmp(&(other.asked_at, &other.id)));
    Ok(waiting)
}

/// Returns the page for a ledger that cannot be read.
pub(crate) fn unreadable(error: &ApprovalError) -> Response {
    let why = WithCauses(error).to_string();
    refusal(StatusCode::INTERNAL_SERVER_ERROR, "The ledger cannot be read", &crate::html::shown(&why))
}
