//! Live: the calls that run, and the last ones that ended.

use super::frame::{Section, empty, framed};
use super::{live_call, pause, rows};
use crate::console::ConsoleState;
use crate::log::{CallRow, LogFilter};
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::html;
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
        return framed(&state, &session, Section::Live, "Live", &content).await;
    }
    let (running, mut ended) = (state.live.calls(), state.log.rows(&LogFilter::default()).0);
    ended.retain(|row: &Arc<CallRow>| row.outcome.is_some());
    ended.truncate(ENDED_SHOWN);
    let pause = state.pause.of_files().await;
    let content = html! {
        section.page {
            @if let Some(pause) = &pause { (pause::state_line(pause)) }
            div #under-way.stack {
                h1 { "Under way " small { (running.len()) } }
                @if running.is_empty() { p.hint { "No call runs or waits now." } }
            }
            ol #live-calls.live aria-label="Calls under way" { @for row in &running { (live_call::shown_row(row)) } }
            div #ended.stack {
                h1 { "Ended" }
                @if ended.is_empty() { p.hint { "No call has ended yet." } }
                @else { (rows::table(&ended, "Calls that ended last")) }
            }
        }
    };
    framed(&state, &session, Section::Live, "Live", &content).await
}
