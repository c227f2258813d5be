//! The lines of `portcullis log`: one for each call. In a narrow terminal, what does not fit goes below it.

use super::logged_call::LoggedCall;
use crate::local_time::LocalTime;
use crate::short_id::short_id;
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use portcullis::text::OneLine;

/// Columns that a target may take without a terminal.
const TARGET_COLUMNS_DEFAULT: usize = 80;

/// Minimum columns of a target, which show the name of a file.
const TARGET_COLUMNS_MIN: usize = 12;

/// Maximum columns of a tool's name.
const TOOL_COLUMNS_MAX: usize = 24;

/// Columns that are kept for what became of the call.
const EFFECT_COLUMNS: usize = 16;

/// Formats calls, one line each if the terminal is wide enough.
pub(super) fn lines(calls: &[LoggedCall], time: &LocalTime, style: Style, width: Option<usize>) -> String {
    let times: Vec<String> = calls.iter().map(|call| time.short(&call.time)).collect();
    let tool = |call: &LoggedCall| {
        let branch = if call.level > 0 { "└ " } else { "" };
        format!("{}{branch}{}", "  ".repeat(call.level.saturating_sub(1)), shortened(&call.tool, TOOL_COLUMNS_MAX))
    };
    // Besides the widest texts: the short id, and the gaps between the columns.
    let before = widest(times.iter()) + widest(calls.iter().map(tool).collect::<Vec<_>>().iter()) + 8 + 4 * 2;
    let room = width
        .map_or(TARGET_COLUMNS_DEFAULT, |width| width.saturating_sub(before + EFFECT_COLUMNS).max(TARGET_COLUMNS_MIN));
    let mut table = Table::default();
    for (call, at) in calls.iter().zip(&times) {
        table.row([
            TableCell::new(TextStyle::Quiet, at),
            TableCell::new(TextStyle::Quiet, short_id(&call.id)),
            TableCell::new(TextStyle::Strong, &tool(call)),
            TableCell::plain(&shortened(&call.target(), room)),
            TableCell::new(look(call), &call.effect()),
        ]);
    }
    table.render(style, "", width)
}

fn look(call: &LoggedCall) -> TextStyle {
    match call.outcome.as_deref() {
        Some("completed") => TextStyle::Good,
        Some("pending" | "cancelled") | None => TextStyle::Doubtful,
        Some(_) => TextStyle::Bad,
    }
}

fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or_default()
}

/// Encodes a text and cuts its middle, because the end of a path says the most.
fn shortened(text: &str, columns: usize) -> String {
    let text = OneLine(text).to_string();
    let count = text.chars().count();
    if count <= columns {
        return text;
    }
    // One column is for the mark of the cut.
    let (head, tail) = (columns / 3, columns - columns / 3 - 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_line_fits_any_terminal_and_no_text_escapes() {
        let evil = "\u{1b}[2J\u{202e}\n".repeat(50);
        let mut call = LoggedCall::begin(&"c".repeat(32), &json!({ "seq": 1, "time": "2025-01-01T00:00:00Z" }));
        let (tool, targets) = (&evil, json!({ "/path": evil }));
        call.add(&json!({ "kind": "decision", "tool": tool, "targets": targets, "decision": "deny", "reason": evil }));
        let mut plain = LoggedCall::begin("d", &json!({ "seq": 2, "time": "2025-01-01T00:00:00Z" }));
        let targets = json!({ "/path": "src/a/very/long/path/to/main.rs" });
        plain.add(&json!({ "kind": "decision", "tool": "files.write", "targets": targets }));
        for columns in [60, 80, 200] {
            let shown = lines(&[call.clone(), plain.clone()], &LocalTime::read(), Style::Plain, Some(columns));
            assert!(shown.lines().all(|line| line.chars().count() <= columns), "{columns}: {shown}");
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
            assert!(shown.contains("main.rs"), "{columns}: {shown}");
        }
        let shown = lines(&[plain], &LocalTime::read(), Style::Plain, Some(120));
        assert_eq!(shown.lines().count(), 1, "{shown}");
    }
}
