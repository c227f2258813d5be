//! The short form of a request: who wants what, the change, and each argument that the two do not show.
//!
//! What an approver decides on is never below a cut: if something of it is left out, no approval is accepted. What the
//! host knows besides is in the long form.

use super::covered::{Uncovered, uncovered};
use super::difference_line::{DifferenceLine, difference_lines};
use super::heading::Heading;
use super::parts::{ShownQuestion, careful, diff_style, show_calls, show_resource};
use super::sheet::{Extent, QuestionSheet};
use crate::json;
use crate::style::{Style, TextStyle};
use portcullis::Question;
use portcullis::text::{Lines, OneLine, count_invisible, count_invisible_in_json};
use serde_json::Value;

/// Rows of a screen that the arguments may take.
const ARGUMENT_ROWS_MAX: usize = 10;

/// Rows of a screen that the names of planned calls may take.
const CALL_ROWS_MAX: usize = 10;

/// Rows of a screen that a difference may take.
const DIFFERENCE_ROWS_MAX: usize = 12;

/// Lays out the short form of a request without its keys.
pub(crate) fn brief(question: &Question, extent: Extent, style: Style, width: Option<usize>) -> ShownQuestion {
    let mut sheet = QuestionSheet::new(extent, style, width);
    let arguments: Option<Value> = serde_json::from_str(&question.arguments).ok();
    let heading = Heading::of(question, arguments.as_ref(), sheet.width());
    sheet.heading(&heading.text, heading.tool.as_deref());
    if let Some(reason) = own_reason(&question.reason) {
        sheet.field("because", reason, TextStyle::Plain);
    }
    if let Some(changed) = &question.changed {
        sheet.field("changed", &format!("since the remembered approval: {changed}"), TextStyle::Strong);
    }
    show_resource(&mut sheet, &question.subject);
    show_calls(&mut sheet, &question.subject, CALL_ROWS_MAX);
    if let Some(difference) = &question.difference {
        show_difference(&mut sheet, difference, heading.shows.as_deref().and(arguments.as_ref()), &heading);
    }
    let left = match &arguments {
        // A line of the change by one call must not hide an argument of another call.
        Some(_) if question.selectable_calls().is_some() => Uncovered::All,
        Some(arguments) => uncovered(arguments, heading.shows.as_deref(), question.difference.as_deref()),
        None => Uncovered::All,
    };
    show_arguments(&mut sheet, question, &left);
    // Counted in all arguments, because the change may show some of them instead.
    match count_invisible_in_json(&question.arguments) {
        Some(0) => {}
        Some(count) => careful(&mut sheet, "the arguments contain", count),
        None => sheet.line(TextStyle::Bad, "  Warning: the arguments cannot be parsed."),
    }
    ShownQuestion { unseen: sheet.unseen(), text: sheet.text }
}

/// Returns the reason if it says more than which rule of the policy asks.
fn own_reason(reason: &str) -> Option<&str> {
    let of_policy = reason.starts_with("rule ") || reason.starts_with("no rule matches");
    // The reasons of reviewers and hooks follow that of the policy, after a semicolon.
    (!of_policy || reason.contains("; ")).then_some(reason)
}

/// Adds the change to files. The lines that the heading already says are left out.
fn show_difference(sheet: &mut QuestionSheet, difference: &str, arguments: Option<&Value>, heading: &Heading) {
    let path = heading.shows.as_deref().and_then(|pointer| arguments?.pointer(pointer)?.as_str());
    let headers = path.map(|path| [format!("--- a/{path}"), format!("+++ b/{path}")]);
    // With several files, only the headers say which change is of which file.
    let is_of_file =
        |(line, kind): &(&str, DifferenceLine<'_>)| *kind == DifferenceLine::Path && line.starts_with("+++ ");
    let is_one_file = difference_lines(difference).filter(is_of_file).count() == 1;
    let is_said = |place: usize, line: &str, kind: DifferenceLine<'_>| match kind {
        // Only the first note counts the files. The words of another one may be a plugin's.
        DifferenceLine::Note => place == 0 && line.ends_with(" computes that this call would change 1 file @@"),
        DifferenceLine::Path => headers.as_ref().is_some_and(|headers| headers.iter().any(|said| said == line)),
        DifferenceLine::Hunk | DifferenceLine::Unchanged(_) | DifferenceLine::Removed(_) | DifferenceLine::Added(_) => {
            false
        }
    };
    let lines = difference_lines(difference).enumerate();
    let lines = lines.filter(|(place, (line, kind))| !(is_one_file && is_said(*place, line, *kind)));
    let lines = lines.map(|(_, (line, _))| line);
    let encoded: Vec<String> = lines.map(|line| OneLine(line).to_string()).collect();
    sheet.block(encoded.iter().map(|line| (diff_style(line), line.as_str())), DIFFERENCE_ROWS_MAX);
    let count = count_invisible(difference);
    if count > 0 {
        careful(sheet, "the change contains", count);
    }
}

fn show_arguments(sheet: &mut QuestionSheet, question: &Question, left: &Uncovered) {
    match left {
        Uncovered::All => {
            let text = &question.arguments;
            sheet.line(TextStyle::Plain, &format!("  arguments, exactly as they will run ({} bytes):", text.len()));
            let encoded = Lines(&json::indent(text)).to_string();
            sheet.block(encoded.lines().map(|line| (TextStyle::Plain, line)), ARGUMENT_ROWS_MAX);
        }
        Uncovered::Some(left) => {
            let of_one = |(pointer, value): &(String, Value)| {
                let name = pointer.strip_prefix('/').filter(|name| !name.contains(['/', '~'])).unwrap_or(pointer);
                OneLine(&format!("{name}: {value}")).to_string()
            };
            let lines: Vec<String> = left.iter().map(of_one).collect();
            sheet.block(lines.iter().map(|line| (TextStyle::Plain, line.as_str())), ARGUMENT_ROWS_MAX);
        }
    }
}
