//! A call under way: a line that opens to its states, its progress, and who makes it.

use crate::html::{ago, cell, duration, now, short, shown};
use crate::live_calls::{LiveRow, SeenState};
use crate::words;
use maud::{Markup, html};
use portcullis::live::LiveProgress;

/// Returns the line of a call with what it opens to.
pub(super) fn shown_row(row: &LiveRow) -> Markup {
    let call = &row.call;
    let took = u64::try_from(now().saturating_sub(call.started.as_millisecond())).unwrap_or_default();
    let target = words::of_targets(&call.targets);
    html! {
        li data-call=(call.call) {
            details {
                summary {
                    span.what { b { (cell(&call.tool)) } " " @if let Some(target) = &target { code { (cell(target)) } } }
                    span.meta { (cell(call.agent.as_ref().unwrap_or(&call.principal))) }
                    span.doubtful { (call.state.as_str()) }
                    span.progress { @if let Some(progress) = &call.progress { (progress_shown(progress)) } }
                    span.number { (duration(took.saturating_mul(1000))) }
                }
                dl {
                    @for state in &row.states { dt { (state.state.as_str()) } dd { (state_shown(*state)) } }
                    @for (name, target) in call.targets.iter() {
                        dt { (cell(name.trim_start_matches('/'))) } dd { code { (shown(target)) } }
                    }
                    @if let Some(text) = call.progress.as_ref().and_then(|progress| progress.text.as_ref()) {
                        dt { "progress" } dd { (shown(text)) }
                    }
                    @if let Some(agent) = &call.agent { dt { "agent" } dd { (shown(agent)) } }
                    dt { "principal" } dd { (shown(&call.principal)) }
                    dt { "session" } dd { (shown(&call.session)) }
                    dt { "host" } dd { "process " (call.host.pid) }
                    dt { "call" } dd { a href={ "/log/" (call.call) } { (short(&call.call)) " in the log" } }
                }
            }
        }
    }
}

fn state_shown(SeenState { at, is_earlier, .. }: SeenState) -> Markup {
    html! { @if is_earlier { "before " } (crate::html::exact(at)) " · " (ago(at)) }
}

fn progress_shown(progress: &LiveProgress) -> Markup {
    html! {
        @if let Some(fraction) = progress.fraction { progress value=(fraction) max="1" aria-label="Progress" {} " " }
        @if let (Some(done), Some(total)) = (progress.done, progress.total) { (done) " of " (total) " " }
        @if let Some(text) = &progress.text { small { (cell(text)) } }
    }
}
