//! The log: the calls of the audit log, with a search, filters and a chart.

use super::frame::{Section, empty, framed};
use super::{chart, rows};
use crate::console::ConsoleState;
use crate::html::cell;
use crate::log::{CALLS_KEPT, CallRow, LogFilter};
use crate::query::{PageQuery, address};
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use maud::{Markup, html};
use portcullis::text::{OneLine, WithCauses};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows of one page.
const PAGE_ROWS: usize = 100;

/// Values that a filter offers.
const VALUES_MAX: usize = 100;

/// Shows a page of the log.
pub(crate) async fn show(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    query: RawQuery,
) -> Response {
    let query = PageQuery::of(query);
    if let Err(error) = state.log.refresh().await {
        let content = empty("The audit log cannot be read", &WithCauses(&error).to_string());
        return framed(&state, &session, Section::Log, "Log", &content).await;
    }
    let filter = LogFilter::of(&query);
    let (all, fault) = state.log.rows(&LogFilter::default());
    let (found, _) = state.log.rows(&filter);
    let skipped = query.get("from").parse::<usize>().unwrap_or(0).min(found.len());
    let page: Vec<Arc<CallRow>> = found.iter().skip(skipped).take(PAGE_ROWS).cloned().collect();
    let content = html! {
        section.page {
            h1 { "Log " small { (found.len()) @if found.len() != all.len() { " of " (all.len()) } " calls" } }
            @if let Some(fault) = fault { p.warning role="alert" { b { "The audit log is not intact: " } (cell(&fault)) } }
            (filters(&filter, &all))
            @if found.is_empty() { p.hint { "No call matches." } }
            @else {
                (chart::calls(&found))
                (rows::table(&page, "Calls"))
                (pager(&filter, skipped, found.len()))
            }
            @if all.len() == CALLS_KEPT { p.hint { "Only the last " (CALLS_KEPT) " calls are here. `portcullis audit show` has all." } }
        }
    };
    framed(&state, &session, Section::Log, "Log", &content).await
}

fn filters(filter: &LogFilter, rows: &[Arc<CallRow>]) -> Markup {
    let values = |of: fn(&CallRow) -> &str| -> BTreeSet<String> {
        rows.iter().map(|row| OneLine(of(row)).to_string()).filter(|text| !text.is_empty()).take(CALLS_KEPT).collect()
    };
    html! {
        form.filters method="get" action="/log" role="search" {
            label { span.away { "Search" } input #search type="search" name="q" value=(filter.text) placeholder="Search"; }
            (choice("tool", "Every tool", &filter.tool, &values(|row| &row.tool)))
            (choice("caller", "Every caller", &filter.caller, &values(CallRow::caller)))
            (choice("decision", "Every decision", &filter.decision, &values(|row| &row.decision)))
            label { span.away { "Day" } input type="date" name="day" value=(filter.day); }
            button type="submit" { "Filter" }
            a href="/log" { "Clear" }
        }
    }
}

fn choice(name: &str, all: &str, chosen: &str, values: &BTreeSet<String>) -> Markup {
    html! {
        label {
            span.away { (name) }
            select name=(name) {
                option value="" { (all) }
                @let offered = values.iter().take(VALUES_MAX).collect::<Vec<_>>();
                @for value in &offered {
                    option value=(value) selected[*value == chosen] { (value) }
                }
                // Otherwise sending the form again would drop the filter.
                @if !chosen.is_empty() && !offered.iter().any(|value| *value == chosen) {
                    option value=(chosen) selected { (cell(chosen)) }
                }
            }
        }
    }
}

fn pager(filter: &LogFilter, skipped: usize, of: usize) -> Markup {
    let to = |from: usize| {
        let from = from.to_string();
        let mut fields = filter.fields().to_vec();
        fields.push(("from", if from == "0" { "" } else { &from }));
        address("/log", &fields)
    };
    html! {
        nav.pager aria-label="Pages of the log" {
            @if skipped > 0 { a href=(to(skipped.saturating_sub(PAGE_ROWS))) { "Newer" } }
            span { (skipped + 1) " to " ((skipped + PAGE_ROWS).min(of)) " of " (of) }
            @if skipped + PAGE_ROWS < of { a href=(to(skipped + PAGE_ROWS)) { "Older" } }
        }
    }
}
