//! The remembered approvals: what each covers, how often it was used, and a button to revoke it.

use super::frame::{Section, framed, heading, token};
use super::inbox::unreadable;
use super::redirect;
use crate::console::ConsoleState;
use crate::guard::ConsoleForm;
use crate::html::{ago, cell, count, hash, left, short, shown};
use crate::notice::Notice;
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use portcullis::approvals::HeldAnswer;
use portcullis::text::WithCauses;
use std::sync::Arc;

/// Shows the remembered approvals in force.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
) -> Response {
    let listing = match state.approvals.list().await {
        Ok(listing) => listing,
        Err(error) => return unreadable(&error),
    };
    let content = html! {
        section.page {
            (heading("Remembered", listing.answers.len(), "approval"))
            @if listing.answers.is_empty() {
                p.hint { "Nothing is remembered. Choose \"This session\" or \"Always\" when you approve a request." }
            }
            @for fault in &listing.faults { p.warning { (shown(fault)) } }
            @for answer in &listing.answers { (one(&session, answer)) }
        }
    };
    framed(&state, &session, Section::Remembered, "Remembered", &content).await
}

fn one(session: &ConsoleSession, answer: &HeldAnswer) -> Markup {
    html! {
        section.held {
            div {
                h2 { (cell(&answer.tool)) }
                p { "Covers " code { (shown(&answer.covers)) } }
                p.byline {
                    (shown(&answer.principal)) " (" (shown(&answer.origin)) "), "
                    @match &answer.session { Some(session) => { "session " (short(session)) } None => { "every session" } }
                    " · " @for grant in &answer.grants { (shown(grant)) " · " }
                    "plugin " code title=(answer.plugin_sha256) { (hash(&answer.plugin_sha256)) }
                }
                p.byline {
                    "given " (ago(answer.given_at.as_millisecond())) " · " (left(answer.expires_at.as_millisecond())) " · "
                    @match answer.used_at {
                        Some(at) => { "used " (count(usize::try_from(answer.uses).unwrap_or(usize::MAX), "time")) ", last " (ago(at.as_millisecond())) }
                        None => { "never used" }
                    }
                }
            }
            form method="post" action="/remembered/revoke" {
                (token(session))
                input type="hidden" name="id" value=(answer.id);
                button.deny type="submit" aria-label={ "Revoke " (cell(&answer.tool)) " " (cell(&answer.covers)) } { "Revoke" }
            }
        }
    }
}

/// Revokes one remembered approval.
pub(crate) async fn revoke(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    Extension(form): Extension<ConsoleForm>,
) -> Response {
    let notice = match state.approvals_of(&session).revoke(form.get("id")).await {
        Ok(()) => Notice::done("Revoked. Calls that it covered ask again."),
        Err(error) => Notice::refused(format!("Not revoked: {}.", WithCauses(&error))),
    };
    state.sessions.notify(&session, notice);
    redirect("/remembered")
}
