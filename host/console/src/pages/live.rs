//! Live: the calls that run, and the last ones that ended.

use super::frame::{Section, empty, framed};
use super::rows;
use crate::console::ConsoleState;
use crate::html::{ago, cell, duration, now, short};
use crate::log::{CallRow, LogFilter};
use crate::session::ConsoleSession;
use crate::words;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use portcullis::live::{LiveCall, LiveProgress};
use portcullis::text::WithCauses;
use std::sync::Arc;

/// Calls that have ended and are still shown.
const ENDED_SHOWN: usize = 50;

/// Shows the calls under way, the newest first, and then the last ones that ended.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
) -> Response {
    if let Err(error) = state.log.refresh().await {
        let content = empty("The audit log cannot be read", &WithCauses(&error).to_string());
        return framed(&state, &session, Section::Live, "Live", &content);
    }
    let (running, mut ended) = (state.live.calls(), state.log.rows(&LogFilter::default()).0);
    ended.retain(|row: &Arc<CallRow>| row.outcome.is_some());
    ended.truncate(ENDED_SHOWN);
    let content = html! {
        section.page {
            h1 { "Under way " small { (running.len()) } }
            @if running.is_empty() { p.hint { "No call runs or waits now." } } @else { (table(&running)) }
            h1 { "Ended" }
            @if ended.is_empty() { p.hint { "No call has ended yet." } }
            @else { (rows::table(&ended, "Calls that ended last")) }
        }
    };
    framed(&state, &session, Section::Live, "Live", &content)
}

fn table(calls: &[LiveCall]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Calls under way" {
            table.calls {
                caption.away { "Calls under way" }
                thead {
                    tr {
                        th scope="col" { "Began" } th scope="col" { "Caller" } th scope="col" { "Tool" }
                        th scope="col" { "Target" } th scope="col" { "State" } th scope="col" { "Progress" }
                        th.number scope="col" { "Takes" }
                    }
                }
                tbody { @for call in calls { (line(call)) } }
            }
        }
    }
}

fn line(call: &LiveCall) -> Markup {
    let began = call.started.as_millisecond();
    let took = u64::try_from(now().saturating_sub(began)).unwrap_or_default().saturating_mul(1000);
    html! {
        tr {
            td.when { (ago(began)) }
            td { (cell(call.agent.as_ref().unwrap_or(&call.principal))) " " small { (short(&call.session)) } }
            td { a href={ "/log/" (call.call) } { (cell(&call.tool)) } }
            td.target { @if let Some(target) = words::of_targets(&call.targets) { code { (cell(&target)) } } }
            td { span.doubtful { (call.state.as_str()) } }
            td { @if let Some(progress) = &call.progress { (progress_shown(progress)) } }
            td.number { (duration(took)) }
        }
    }
}

fn progress_shown(progress: &LiveProgress) -> Markup {
    html! {
        @if let Some(fraction) = progress.fraction { progress value=(fraction) max="1" aria-label="Progress" {} " " }
        @if let (Some(done), Some(total)) = (progress.done, progress.total) { (done) " of " (total) " " }
        @if let Some(text) = &progress.text { small { (cell(text)) } }
    }
}
