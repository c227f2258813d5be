//! The document of a run, which is also the file of a saved run.

use super::comparison::{Comparison, Worse};
use super::concurrent::IN_FLIGHT;
use super::figure::{Figure, ratio};
use super::run::{BenchRun, HOST_VERSION, PluginRun, ToolEnd, ToolRun};
use serde_json::{Value, json};

/// Returns the document of a run, with the figures of a saved run if there is one.
pub(super) fn document(run: &BenchRun, comparison: Option<&Comparison>, worse: &[Worse]) -> Value {
    let plugins: Vec<Value> = run.plugins.iter().map(|plugin| of_plugin(plugin, comparison)).collect();
    json!({
        "host_version": HOST_VERSION,
        "machine": run.machine,
        "seconds": run.seconds,
        "in_flight": IN_FLIGHT,
        "plugins": plugins,
        "compared_with": comparison.map(|comparison| comparison.document(run)),
        "worse": worse.iter().map(Worse::document).collect::<Vec<_>>(),
    })
}

fn of_plugin(plugin: &PluginRun, comparison: Option<&Comparison>) -> Value {
    let figure = |tool: Option<&str>, figure: &Figure| {
        let before = comparison.and_then(|comparison| comparison.before(&plugin.name, tool, figure.kind));
        json!({
            "figure": figure.kind.name(),
            "unit": figure.kind.unit().name(),
            "value": rounded(figure.value),
            "samples": figure.samples,
            "before": before,
            "ratio": before.and_then(|before| ratio(before, figure.value)).map(rounded),
        })
    };
    let tool = |tool: &ToolRun| {
        let notes = match &tool.end {
            ToolEnd::Measured { notes, .. } => notes.as_slice(),
            ToolEnd::NoCall(_) | ToolEnd::Failed(_) => &[],
        };
        json!({
            "tool": tool.tool,
            "case": tool.call.as_ref().and_then(|call| call.case.as_ref()),
            "grants": tool.call.as_ref().map(|call| call.grants.as_slice()).unwrap_or_default(),
            "arguments_sha256": tool.call.as_ref().map(|call| &call.arguments_sha256),
            "figures": tool.figures().iter().map(|one| figure(Some(&tool.tool), one)).collect::<Vec<_>>(),
            "notes": notes,
            "not_measured": tool.why_not_measured(),
        })
    };
    json!({
        "plugin": plugin.name,
        "sha256": plugin.sha256,
        "bytes": plugin.bytes,
        "refused": plugin.refused,
        "figures": plugin.compile.iter().map(|one| figure(None, one)).collect::<Vec<_>>(),
        "tools": plugin.tools.iter().map(tool).collect::<Vec<_>>(),
    })
}

/// Returns a value to three digits after the point: nanoseconds are less than a clock can tell.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
