//! Parts that the short and the long form of a request share.

use super::sheet::{QuestionSheet, Unseen};
use crate::style::TextStyle;
use portcullis::approvals::{PlannedCall, Subject};
use portcullis::text::{OneLine, count_invisible};

/// A request as text, and whether the text leaves something out.
pub(crate) struct ShownQuestion {
    pub(crate) text: String,
    pub(crate) unseen: Unseen,
}

/// Returns the look of a line of a difference.
pub(super) fn diff_style(line: &str) -> TextStyle {
    match line.as_bytes().first() {
        Some(b'+') => TextStyle::Good,
        Some(b'-') => TextStyle::Bad,
        Some(b'@') => TextStyle::Quiet,
        Some(_) | None => TextStyle::Plain,
    }
}

/// Adds what a running call asks for, if the request is about that.
pub(super) fn show_resource(sheet: &mut QuestionSheet, subject: &Subject) {
    let Subject::Resource { permission, resource, reason, by_host } = subject else { return };
    sheet.field("wants to", permission, TextStyle::Plain);
    sheet.line(
        TextStyle::Plain,
        match by_host {
            true => "  once, as the host will grant it (only the arguments are from the tool):",
            false => "  in the tool's own words, not checked:",
        },
    );
    sheet.field("  what", resource, TextStyle::Plain);
    sheet.field("  why", reason, TextStyle::Plain);
    let count = count_invisible(resource) + count_invisible(reason);
    if count > 0 {
        careful(sheet, "these words contain", count);
    }
}

/// Adds the calls that a running call plans to make, by their numbers. The arguments have the whole of each.
pub(super) fn show_calls(sheet: &mut QuestionSheet, subject: &Subject, rows_max: usize) {
    let Subject::Calls(calls) = subject else { return };
    let width = calls.len().to_string().len();
    let line = |(index, call): (usize, &PlannedCall)| format!("{:>width$}  {}", index + 1, OneLine(&call.name()));
    let lines: Vec<String> = calls.iter().enumerate().map(line).collect();
    sheet.block(lines.iter().map(|line| (TextStyle::Plain, line.as_str())), rows_max);
}

pub(super) fn careful(sheet: &mut QuestionSheet, what: &str, count: usize) {
    let characters =
        if count == 1 { "1 invisible character".to_owned() } else { format!("{count} invisible characters") };
    sheet.line(TextStyle::Bad, &format!("  Warning: {what} {characters}, shown as escapes."));
}
