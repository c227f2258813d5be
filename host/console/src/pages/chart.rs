//! The charts over time as inline SVG, made here: no script draws them. A table has the same numbers.

use super::call_group::CallGroup;
use super::latency;
use crate::html::{count, duration};
use crate::log::CallRow;
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hours that the charts cover, the last ones.
const HOURS: i64 = 24;

const HOUR_MILLISECONDS: i64 = 3_600_000;

/// The size of the drawing. It is scaled to the width of the page.
const WIDTH: i64 = 720;
const HEIGHT: i64 = 72;

/// Returns the calls per hour by decision and how long they took, for the last day in which there were calls. Below are
/// the calls and times of each tool.
pub(crate) fn calls(rows: &[Arc<CallRow>]) -> Markup {
    let Some(last) = rows.iter().map(|row| row.at / HOUR_MILLISECONDS).max() else { return html! {} };
    let mut hours: BTreeMap<i64, CallGroup> =
        (last - HOURS + 1..=last).map(|hour| (hour, CallGroup::default())).collect();
    for row in rows {
        let Some(hour) = hours.get_mut(&(row.at / HOUR_MILLISECONDS)) else { continue };
        hour.add(row);
    }
    html! {
        div.charts {
            div.over-time {
                figure.chart {
                    figcaption { "Calls per hour " span.key { span.allow {} "allowed " span.ask {} "asked " span.deny {} "denied" } }
                    (bars(&hours))
                }
                figure.chart {
                    figcaption { "Time per call " span.key { span.p50 {} "median " span.p95 {} "95 %" } }
                    (times(&hours))
                }
            }
            (latency::by_tool(rows))
        }
        details.numbers { summary { "The charts as a table" } (table(&hours)) }
    }
}

fn bars(hours: &BTreeMap<i64, CallGroup>) -> Markup {
    let most = hours.values().map(CallGroup::all).max().unwrap_or(0).max(1);
    let total: usize = hours.values().map(CallGroup::all).sum();
    let label = format!("{} in {HOURS} hours, at most {most} in an hour", count(total, "call"));
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (place, hour) in hours.values().enumerate() { (bar(place, hour, most)) }
        }
    }
}

fn bar(place: usize, hour: &CallGroup, most: usize) -> Markup {
    let width = WIDTH / HOURS;
    let x = i64::try_from(place).unwrap_or(0) * width;
    let scale = |number: usize| i64::try_from(number * 1000 / most).unwrap_or(0) * HEIGHT / 1000;
    let (allow, ask, deny) = (scale(hour.allow), scale(hour.ask), scale(hour.deny));
    let part = |class: &str, from: i64, height: i64| {
        html! {
            @if height > 0 {
                rect class=(class) x=(x + 2) y=(HEIGHT - from - height) width=(width - 4) height=(height) {}
            }
        }
    };
    html! { (part("allow", 0, allow)) (part("ask", allow, ask)) (part("deny", allow + ask, deny)) }
}

fn times(hours: &BTreeMap<i64, CallGroup>) -> Markup {
    let longest = hours.values().map(|hour| hour.quantile(95)).max().unwrap_or(0).max(1);
    let line = |percent: usize| {
        let point = |(place, hour): (usize, &CallGroup)| {
            let x = i64::try_from(place).unwrap_or(0) * WIDTH / HOURS + WIDTH / HOURS / 2;
            let height = i64::try_from(hour.quantile(percent).saturating_mul(1000) / longest).unwrap_or(0);
            (hour.has_times()).then(|| format!("{x},{}", HEIGHT - 4 - height * (HEIGHT - 8) / 1000))
        };
        hours.values().enumerate().filter_map(point).collect::<Vec<_>>()
    };
    let label = format!("the longest hour has a 95th percentile of {}", duration(longest));
    let (median, high) = (line(50), line(95));
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(label) {
            (points("p95", &high)) (points("p50", &median))
        }
    }
}

/// Draws a line, and a mark for a single point.
fn points(class: &str, points: &[String]) -> Markup {
    html! {
        polyline class=(class) points=(points.join(" ")) fill="none" vector-effect="non-scaling-stroke" {}
        @if let [point] = points {
            @if let Some((x, y)) = point.split_once(',') { circle class=(class) cx=(x) cy=(y) r="3" {} }
        }
    }
}

fn table(hours: &BTreeMap<i64, CallGroup>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="The charts as a table" {
            table {
                thead {
                    tr {
                        th scope="col" { "Hour" } th.number scope="col" { "Allowed" } th.number scope="col" { "Asked" }
                        th.number scope="col" { "Denied" } th.number scope="col" { "Median" } th.number scope="col" { "95 %" }
                    }
                }
                tbody {
                    @for (hour, calls) in hours.iter().filter(|(_, calls)| calls.all() > 0) {
                        tr {
                            td { (crate::html::exact(hour * HOUR_MILLISECONDS)) }
                            td.number { (calls.allow) } td.number { (calls.ask) } td.number { (calls.deny) }
                            td.number { (duration(calls.quantile(50))) } td.number { (duration(calls.quantile(95))) }
                        }
                    }
                }
            }
        }
    }
}
