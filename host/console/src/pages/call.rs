//! One call: every entry of the audit log about it.

use super::frame::{Section, empty, framed};
use super::rows::decision;
use crate::console::ConsoleState;
use crate::html::{ago, cell, duration, shown};
use crate::log::CallRow;
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use portcullis::audit::Entry;
use portcullis::text::{Lines, WithCauses, indent_json};
use std::sync::Arc;

/// Bytes of one entry that are shown.
const ENTRY_BYTES_MAX: usize = 64 * 1024;

/// Members of an entry that are the same for each, or that only the host can use.
const LEFT_OUT: [&str; 4] = ["mac", "kind", "time", "call"];

/// Shows everything that the log has about a call.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    Path(call): Path<String>,
) -> Response {
    let refreshed = state.log.refresh().await;
    let content = match (refreshed, state.log.entries(&call).await) {
        (Err(error), _) | (_, Err(error)) => empty("The audit log cannot be read", &WithCauses(&error).to_string()),
        (Ok(_), Ok(entries)) if entries.is_empty() => empty("No such call", "The audit log has no call with this id."),
        (Ok(_), Ok(entries)) => {
            let row = state.log.row(&call);
            html! {
                section.page {
                    @if let Some(row) = &row { (summary(row)) } @else { h1 { "Call " code { (cell(&call)) } } }
                    @for entry in &entries { (one(entry)) }
                }
            }
        }
    };
    framed(&state, &session, Section::Log, "Call", &content).await
}

fn summary(row: &CallRow) -> Markup {
    html! {
        h1 { (cell(&row.tool)) " " @if let Some(target) = &row.target { code { (cell(target)) } } }
        p.byline {
            (cell(row.caller())) " · session " (cell(&row.session)) " · " (ago(row.at)) " · " (decision(&row.decision))
            @if let Some(outcome) = &row.outcome { " · " (cell(&outcome.code)) " · " (duration(outcome.microseconds)) }
        }
        p.why { (shown(&row.reason)) }
        p { a href={ "/policy?call=" (row.call) } { "What would happen to it now" } }
    }
}

fn one(entry: &Entry) -> Markup {
    let text = |name: &str| entry.document.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    let mut document = entry.document.clone();
    if let Some(members) = document.as_object_mut() {
        LEFT_OUT.iter().for_each(|name| drop(members.remove(*name)));
    }
    let whole = Lines(&indent_json(&document.to_string())).to_string();
    let kept = &whole[..whole.floor_char_boundary(ENTRY_BYTES_MAX)];
    html! {
        details open {
            summary { (cell(text("kind"))) " " small { (cell(text("time"))) " · entry " (entry.sequence) } }
            pre.json tabindex="0" role="region" aria-label={ "Entry " (entry.sequence) } {
                (kept) @if kept.len() < whole.len() { "\n… cut here: `portcullis audit show --call` has all" }
            }
        }
    }
}
