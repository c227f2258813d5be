//! Live: the calls that run, and the last ones that ended.

use super::frame::{Section, empty, framed};
use super::rows;
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

/// Shows the calls that run, the newest first, and then the last ones that ended.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
) -> Response {
    if let Err(error) = state.log.refresh().await {
        let content = empty("The audit log cannot be read", &WithCauses(&error).to_string());
        return framed(&state, &session, Section::Live, "Live", &content);
    }
    let (rows, _) = state.log.rows(&LogFilter::default());
    let (running, mut ended): (Vec<Arc<CallRow>>, Vec<Arc<CallRow>>) =
        rows.into_iter().partition(|row| row.is_running());
    ended.truncate(ENDED_SHOWN);
    let content = html! {
        section.page {
            h1 { "Running " small { (running.len()) } }
            @if running.is_empty() { p.hint { "No call runs now." } }
            @else { (rows::table(&running, "Calls that run")) }
            h1 { "Ended" }
            @if ended.is_empty() { p.hint { "No call has ended yet." } }
            @else { (rows::table(&ended, "Calls that ended last")) }
        }
    };
    framed(&state, &session, Section::Live, "Live", &content)
}
