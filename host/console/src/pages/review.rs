//! Several requests at once. Each is shown whole, and the one answer is bound to what is shown of each.

use super::frame::{Section, framed, token};
use super::inbox::{unreadable, waiting};
use super::request::{self, Extent, RequestBody};
use super::request_list;
use crate::console::ConsoleState;
use crate::html::{count, size};
use crate::proof::ProvenRequest;
use crate::query::PageQuery;
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use maud::{Markup, html};
use portcullis::Question;
use portcullis::approvals::{OpenQuestion, Status};
use std::sync::Arc;

/// Maximum bytes of all requests of one review. A person would not read more at once.
const REVIEW_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Maximum bytes of one request in a review. A longer one deserves a page of its own.
const REVIEWED_BYTES_MAX: usize = 256 * 1024;

/// A request that the review shows.
struct Reviewed {
    open: OpenQuestion,
    question: Question,
    body: RequestBody,
}

/// Shows the selected requests, each whole, with one answer for all.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    query: RawQuery,
) -> Response {
    let query = PageQuery::of(query);
    let listed = match waiting(&state).await {
        Ok(listed) => listed,
        Err(error) => return unreadable(&error),
    };
    // Take the ids from the ledger and not from the address, so that only requests that wait are shown.
    let ids = listed.iter().filter(|open| query.all("id").any(|id| id == open.id || id == "all"));
    let ids: Vec<&str> = ids.take(request_list::LISTED_MAX).map(|open| open.id.as_str()).collect();
    let (reviewed, too_long) = gathered(&state, &ids).await;
    let content = html! {
        div.inbox {
            (request_list::shown(&listed, None))
            (article(&session, &reviewed, too_long))
        }
    };
    framed(&state, &session, Section::Inbox, &format!("Review {}", count(reviewed.len(), "request")), &content).await
}

/// Reads the requests as they are now. Also returns how many are too long to review together.
async fn gathered(state: &ConsoleState, ids: &[&str]) -> (Vec<Reviewed>, usize) {
    let (mut reviewed, mut bytes, mut too_long) = (Vec::new(), 0, 0);
    for id in ids {
        // One that was answered meanwhile is not shown.
        let Ok(open) = state.approvals.question(id).await else { continue };
        let Some(question) = open.question.clone().filter(|_| open.status == Status::Pending) else { continue };
        let body = RequestBody::of(&question, Extent::Whole);
        if body.bytes > REVIEWED_BYTES_MAX || bytes + body.bytes > REVIEW_BYTES_MAX {
            too_long += 1;
            continue;
        }
        bytes += body.bytes;
        reviewed.push(Reviewed { open, question, body });
    }
    (reviewed, too_long)
}

fn article(session: &ConsoleSession, reviewed: &[Reviewed], too_long: usize) -> Markup {
    let bytes = reviewed.iter().map(|reviewed| reviewed.body.bytes).sum();
    html! {
        article #request.review data-id="review" data-standing="review" aria-label="Review" {
            header {
                h2 tabindex="-1" { "Review " (count(reviewed.len(), "request")) " together" }
                p.why { "Each is shown whole, " (size(bytes)) " in all. Your answer applies to each of them as it is shown here." }
            }
            @if too_long > 0 {
                p.warning { (count(too_long, "request")) " too long to review together: answer them one by one." }
            }
            @for reviewed in reviewed {
                section.reviewed data-reviewed=(reviewed.open.id) {
                    (request::described(&reviewed.open, &reviewed.question, &reviewed.body))
                }
            }
            @if !reviewed.is_empty() { (form(session, reviewed)) }
        }
    }
}

fn form(session: &ConsoleSession, reviewed: &[Reviewed]) -> Markup {
    html! {
        span #seen-to-here {}
        form #answer.answer method="post" action="/inbox/answer" {
            (token(session))
            input type="hidden" name="remember" value="once";
            @for reviewed in reviewed {
                input type="hidden" name="request" value=(ProvenRequest::field(&reviewed.question));
            }
            (request::actions(false, &format!("Approve {}", reviewed.len())))
        }
    }
}
