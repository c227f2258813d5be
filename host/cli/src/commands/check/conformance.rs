//! The conformance level of a plugin, as `portcullis check` shows it.

use super::examined::Examined;
use crate::context::Context;
use crate::style::TextStyle;
use portcullis::plugins::{Conformance, Level, Lint, Loaded, NotTried};
use portcullis::text::{Lines, OneLine, WithCauses};
use serde_json::{Value, json};

/// Returns the conformance level. Runs the plugin only if nothing else keeps it from the highest level.
pub(super) async fn of(examined: &Examined, lints: &[Lint]) -> Conformance {
    match (&examined.loaded, examined.problems.as_slice()) {
        (Some((engine, loaded)), []) => loaded.conformance(lints, engine).await,
        (_, problems) => Conformance {
            level: Level::Refused,
            kept_from_next: problems.iter().map(|problem| WithCauses(problem).to_string()).collect(),
            not_tried: Vec::new(),
        },
    }
}

pub(super) fn document(conformance: &Conformance, loaded: Option<&Loaded>) -> Value {
    let not_tried = |NotTried { tool, why, .. }: &NotTried| json!({ "tool": tool, "why": why });
    json!({
        "level": conformance.level.number(),
        "name": conformance.level.as_str(),
        "of": Level::HIGHEST.number(),
        "contract": loaded.map(|loaded| loaded.contract().as_str()),
        "kept_from_next": conformance.kept_from_next,
        "not_tried": conformance.not_tried.iter().map(not_tried).collect::<Vec<_>>(),
    })
}

/// Returns the lines for contract and level, and the lines for the end: why the level is not higher.
pub(super) fn text(conformance: &Conformance, loaded: Option<&Loaded>, context: &Context) -> (String, String) {
    let style = context.terminal.style();
    let (level, highest) = (conformance.level, Level::HIGHEST.number());
    let spoken = loaded.map(|loaded| format!("  contract  {}\n", loaded.contract().as_str())).unwrap_or_default();
    let line = format!("{spoken}  conforms  level {} of {highest}, {}\n", level.number(), level.as_str());
    let mut reasons = String::new();
    // At the lower levels, problems and lints already say what to fix.
    if let (Level::Clear, Some(next)) = (level, level.next()) {
        for reason in &conformance.kept_from_next {
            let mark = style.paint(TextStyle::Doubtful, format!("not {}:", next.as_str()));
            reasons.push_str(&format!("{mark} {}\n", Lines(reason)));
        }
    }
    for NotTried { tool, why, .. } in &conformance.not_tried {
        let mark = style.paint(TextStyle::Quiet, "not tried:");
        reasons.push_str(&format!("{mark} {}: {}\n", OneLine(tool), OneLine(why)));
    }
    (line, reasons)
}
