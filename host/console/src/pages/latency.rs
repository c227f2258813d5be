//! The calls of each tool by decision, and how long they took. The chart is a table, so its numbers are text.

use super::call_group::CallGroup;
use crate::html::{cell, count, duration};
use crate::log::CallRow;
use maud::{Markup, html};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum tools that are shown, those with the most calls.
const TOOLS_SHOWN: usize = 10;

/// The size of a bar. It is scaled to the width of its cell.
const WIDTH: u64 = 1000;
const HEIGHT: u64 = 10;

/// The least length of a part of a bar, so that it is seen.
const LENGTH_MIN: u64 = 6;

/// Returns the calls and the times of the tools with the most calls.
pub(super) fn by_tool(rows: &[Arc<CallRow>]) -> Markup {
    let mut tools: HashMap<&str, CallGroup> = HashMap::new();
    for row in rows {
        tools.entry(row.tool.as_str()).or_default().add(row);
    }
    let mut tools: Vec<(&str, CallGroup)> = tools.into_iter().collect();
    tools.sort_by(|(one, first), (other, second)| second.all().cmp(&first.all()).then(one.cmp(other)));
    let left_out = tools.len().saturating_sub(TOOLS_SHOWN);
    tools.truncate(TOOLS_SHOWN);
    let most = tools.iter().map(|(_, calls)| calls.all()).max().unwrap_or(0);
    let longest = tools.iter().map(|(_, calls)| calls.quantile(95)).max().unwrap_or(0);
    html! {
        figure.chart.by-tool {
            figcaption {
                "Calls and time by tool "
                span.key { span.allow {} "allowed " span.ask {} "asked " span.deny {} "denied " span.p50 {} "median " span.p95 {} "95 %" }
            }
            table {
                caption.away { "Calls by decision and time per call, for each tool" }
                thead {
                    tr {
                        th scope="col" { "Tool" } th.number scope="col" { "Calls" }
                        th.bar scope="col" { span.away { "Calls by decision" } }
                        th.number scope="col" { "Median" } th.number scope="col" { "95 %" }
                        th.bar scope="col" { span.away { "Time, drawn" } }
                    }
                }
                tbody { @for (tool, calls) in &tools { (line(tool, calls, most, longest)) } }
            }
            @if left_out > 0 { p.hint { (count(left_out, "more tool")) " with fewer calls: choose one in the filter." } }
        }
    }
}

fn line(tool: &str, calls: &CallGroup, most: usize, longest: u64) -> Markup {
    let (median, high) = (calls.quantile(50), calls.quantile(95));
    let time = |time: u64| if calls.has_times() { duration(time) } else { "–".to_owned() };
    html! {
        tr {
            th scope="row" { (cell(tool)) }
            td.number { (calls.all()) }
            td.bar { (decisions(calls, most)) }
            td.number { (time(median)) } td.number { (time(high)) }
            td.bar { @if calls.has_times() { (times(median, high, longest)) } }
        }
    }
}

fn decisions(calls: &CallGroup, most: usize) -> Markup {
    let spoken = format!("{} allowed, {} asked, {} denied", calls.allow, calls.ask, calls.deny);
    let mut from = 0;
    let mut part = |class: &str, number: usize| {
        let (x, width) = (from, length(number as u64, most as u64));
        from += width;
        html! { @if width > 0 { rect class=(class) x=(x) y="0" width=(width) height=(HEIGHT) {} } }
    };
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(spoken) {
            (part("allow", calls.allow)) (part("ask", calls.ask)) (part("deny", calls.deny))
        }
    }
}

/// Draws the 95th percentile behind the median. The cells beside it have both as text.
fn times(median: u64, high: u64, longest: u64) -> Markup {
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" aria-hidden="true" {
            rect.p95 x="0" y="0" width=(length(high, longest)) height=(HEIGHT) {}
            rect.p50 x="0" y="2" width=(length(median, longest)) height=(HEIGHT - 4) {}
        }
    }
}

/// Returns the length of a part of a bar.
fn length(part: u64, whole: u64) -> u64 {
    if part == 0 { 0 } else { (part.saturating_mul(WIDTH) / whole.max(1)).clamp(LENGTH_MIN, WIDTH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_seen_and_stays_inside() {
        assert_eq!(
            [(0, 9), (1, 1_000_000), (5, 10), (9, 0), (u64::MAX, 3)].map(|(part, whole)| length(part, whole)),
            [0, LENGTH_MIN, 500, WIDTH, WIDTH]
        );
    }

    #[test]
    fn the_tools_with_the_most_calls_are_shown() {
        let row = |tool: usize| Arc::new(CallRow { tool: format!("plugin.tool{tool:02}"), ..CallRow::default() });
        let rows: Vec<Arc<CallRow>> = (0..12).flat_map(|tool| (0..=tool).map(move |_| row(tool))).collect();
        let shown = by_tool(&rows).into_string();
        assert!(shown.contains("plugin.tool11") && shown.contains("plugin.tool02"), "{shown}");
        assert!(!shown.contains("plugin.tool01") && shown.contains("2 more tools"), "{shown}");
        assert!(shown.find("plugin.tool11") < shown.find("plugin.tool10"), "{shown}");
    }
}
