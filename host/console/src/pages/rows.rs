//! Tables of calls, for the log and for the live page.

use crate::html::{ago, cell, duration, short};
use crate::log::CallRow;
use maud::{Markup, html};
use std::sync::Arc;

/// Returns a table of calls. Each row leads to the page of its call.
pub(crate) fn table(rows: &[Arc<CallRow>], caption: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.calls {
                caption.away { (caption) }
                thead {
                    tr {
                        th scope="col" { "When" } th scope="col" { "Caller" } th scope="col" { "Tool" }
                        th scope="col" { "Target" } th scope="col" { "Decision" } th scope="col" { "Outcome" }
                        th.number scope="col" { "Took" }
                    }
                }
                tbody { @for row in rows { (line(row)) } }
            }
        }
    }
}

fn line(row: &CallRow) -> Markup {
    html! {
        tr {
            td.when { (ago(row.at)) }
            td { (cell(row.caller())) " " small { (short(&row.session)) } }
            td { a href={ "/log/" (row.call) } { (cell(&row.tool)) } }
            td.target { @if let Some(target) = &row.target { code { (cell(target)) } } }
            td title=(cell(&row.reason)) { (decision(&row.decision)) @if let Some(answer) = row.answers.last() { " " small { (cell(answer)) } } }
            td { (outcome(row)) }
            td.number { (took(row)) }
        }
    }
}

/// Returns a decision as a word with a mark.
pub(crate) fn decision(decision: &str) -> Markup {
    let (look, mark) = match decision {
        "allow" => ("good", "✓"),
        "ask" => ("doubtful", "?"),
        "deny" => ("bad", "×"),
        _ => ("quiet", "–"),
    };
    html! { span class={ "verdict " (look) } { b aria-hidden="true" { (mark) } " " (cell(if decision.is_empty() { "not decided" } else { decision })) } }
}

fn outcome(row: &CallRow) -> Markup {
    match &row.outcome {
        None => html! { span.doubtful { "no outcome yet" } },
        Some(outcome) if outcome.outcome == "completed" => html! { "completed" },
        Some(outcome) if outcome.outcome == "pending" => html! { span.doubtful { "left waiting" } },
        Some(outcome) => html! { span.bad { (cell(&outcome.code)) } },
    }
}

fn took(row: &CallRow) -> String {
    match &row.outcome {
        Some(outcome) => duration(outcome.microseconds),
        None => String::new(),
    }
}
