//! Pauses all calls, shows what resuming would do, and resumes.

use super::frame::{Section, empty, framed, token};
use super::{change, redirect};
use crate::console::ConsoleState;
use crate::difference::{Difference, DifferenceRow};
use crate::guard::ConsoleForm;
use crate::html::{count, shown};
use crate::notice::Notice;
use crate::pause_switch::ResumePreview;
use crate::refusal::refusal;
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use portcullis::policy::Pause;
use std::sync::Arc;

/// Pauses the policy, and returns to the section whose button was pressed.
pub(crate) async fn pause(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    Extension(form): Extension<ConsoleForm>,
) -> Response {
    let notice = match state.pause.pause(session.approver.as_ref()).await {
        Ok(()) => {
            // Do not wait for the watcher, because the next page must show the new state.
            state.watch.put_paused(true);
            Notice::done("Paused. Running servers refuse every new call. Calls that run already go on.")
        }
        Err(why) => Notice::refused(format!("Not paused: {why}.")),
    };
    state.sessions.notify(&session, notice);
    // Only a known address is used, so that the form cannot send the browser elsewhere.
    let back = Section::ALL.into_iter().find(|section| section.address() == form.get("back"));
    redirect(back.unwrap_or(Section::Live).address())
}

/// Shows what resuming would do.
pub(crate) async fn preview(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
) -> Response {
    let content = match state.pause.of_files().await {
        None => empty("Not paused", "The policy is not paused, so there is nothing to resume."),
        Some(pause) => html! {
            section.page {
                h1 { "Resume" }
                (state_line(&pause))
                @if state.pause.may_resume { (resumption(&state, &session).await) }
                @else { p { "This console only pauses. The operator resumes with " code { "portcullis resume" } "." } }
            }
        },
    };
    framed(&state, &session, Section::Policy, "Resume", &content).await
}

/// Resumes, if the policy is still what the page showed.
pub(crate) async fn resume(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    Extension(form): Extension<ConsoleForm>,
) -> Response {
    // A client can send the form without its button, so check this here too.
    if !state.pause.may_resume {
        let why = "This console only pauses. The operator resumes with `portcullis resume`.";
        return refusal(StatusCode::FORBIDDEN, "Not from this console", why);
    }
    let resumed = match usable(&state).await {
        Ok(()) => state.pause.resume(form.get("policy")).await,
        Err(why) => Err(why),
    };
    match resumed {
        Ok(()) => {
            state.watch.put_paused(false);
            let notice = Notice::done("Resumed. The rules decide about every new call again.");
            state.sessions.notify(&session, notice);
            redirect(Section::Live.address())
        }
        Err(why) => {
            state.sessions.notify(&session, Notice::refused(format!("Not resumed: {why}.")));
            redirect("/resume")
        }
    }
}

/// Says that the policy is paused, and why.
pub(super) fn state_line(pause: &Pause) -> Markup {
    html! {
        p.warning { b { "Paused: " } "every new call is refused. The " (pause.layer) " policy says: " (shown(&pause.reason)) }
    }
}

/// Returns what resuming would do, with its button, or why it cannot be done here.
async fn resumption(state: &ConsoleState, session: &ConsoleSession) -> Markup {
    let preview = match usable(state).await {
        Ok(()) => state.pause.preview().await,
        Err(why) => Err(why),
    };
    match preview {
        Ok(preview) => form(state, session, &preview),
        Err(why) => html! { p.warning { b { "It cannot be resumed here: " } (shown(&why)) } },
    }
}

/// Checks that servers can use the policy. Otherwise they would keep the policy that is paused.
async fn usable(state: &ConsoleState) -> Result<(), String> {
    let why = match state.host.get().await {
        Ok(host) => host.policy_status().borrow().fault.clone(),
        Err(why) => Some(why),
    };
    let said = |why| format!("servers cannot use this policy, so they would stay paused: {why}; correct it first");
    why.map_or(Ok(()), |why| Err(said(why)))
}

fn form(state: &ConsoleState, session: &ConsoleSession, preview: &ResumePreview) -> Markup {
    let mut difference = Difference::parse(&preview.difference);
    // The caption names the file.
    difference.rows.retain(|row| !matches!(row, DifferenceRow::File(_)));
    let waiting = state.watch.now().pending;
    html! {
        p { "The rules decide about every new call again, also in running servers. Calls that were refused are not repeated." }
        @if waiting > 0 { p { (count(waiting, "request")) " in the inbox can then run after you approve." } }
        (change::shown(&difference, difference.rows.len(), &shown(&preview.path), "Change of the policy"))
        form method="post" action="/resume" {
            (token(session))
            input type="hidden" name="policy" value=(preview.sha256);
            button.approve type="submit" { "Resume all calls" }
        }
    }
}
