//! The text of an approval request: everything that the approver needs, on one screen, in the host's order.
//!
//! This module does no I/O. It builds text, and encodes every character that comes from a model or a plugin.

mod brief;
mod covered;
mod difference_line;
mod heading;
mod keys;
mod parts;
mod sheet;

use crate::json;
use crate::style::{Style, TextStyle};
use crate::terminal::Terminal;
use crate::time::span;
pub(crate) use keys::{RememberedCovers, key_lines, keys};
pub(crate) use parts::ShownQuestion;
use parts::{careful, diff_style, show_calls, show_resource};
use portcullis::Question;
use portcullis::approvals::Subject;
use portcullis::text::{Lines, OneLine, count_invisible, count_invisible_in_json};
use sheet::QuestionSheet;
pub(crate) use sheet::{Extent, Unseen};
use std::time::Duration;

/// The reply to an approval if the file has changed since the request was shown.
pub(crate) const FILE_CHANGED: &str = "The file has changed since the request was shown. Review it again.";

/// Rows of a screen of unknown height.
const HEIGHT_DEFAULT: usize = 24;

/// Rows below a request: the keys, which may be wrapped, and the line for the answer.
const ANSWER_ROWS: usize = 4;

/// Rows of a screen that the arguments may take.
const ARGUMENT_ROWS_MAX: usize = 10;

/// Rows of a screen that a difference may take.
const DIFFERENCE_ROWS_MAX: usize = 12;

/// Rows of a screen that the names of planned calls may take.
const CALL_ROWS_MAX: usize = 10;

/// Handles that are listed on a screen.
const HANDLES_MAX: usize = 4;

/// Offers that are listed on a screen.
const OFFERS_MAX: usize = 6;

/// Digits of a hash that are shown, enough to distinguish a user's plugins. The audit log has all of them.
const HASH_DIGITS: usize = 12;

/// What an approver is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sheet {
    /// What is decided, cut to one screen.
    Brief,
    /// Everything that the host knows, whole.
    Details,
}

/// Lays a request out for a terminal.
pub(crate) fn laid_out(question: &Question, sheet: Sheet, terminal: Terminal) -> ShownQuestion {
    let (style, width) = (terminal.note_style(), terminal.note_width());
    laid_out_in(question, sheet, style, (width, terminal.note_height()))
}

/// Lays a request out for a screen with these columns and rows.
pub(crate) fn laid_out_in(
    question: &Question,
    sheet: Sheet,
    style: Style,
    (width, height): (Option<usize>, Option<usize>),
) -> ShownQuestion {
    match sheet {
        Sheet::Details => shown(question, Extent::Whole, style, width),
        Sheet::Brief => {
            // The maximum rows of the parts apply only if the whole request does not fit.
            let whole = brief::brief(question, Extent::Whole, style, width);
            let room = height.unwrap_or(HEIGHT_DEFAULT).saturating_sub(ANSWER_ROWS);
            if whole.text.lines().count() <= room {
                whole
            } else {
                brief::brief(question, Extent::Screen, style, width)
            }
        }
    }
}

/// Lays out a request without its prompt.
pub(crate) fn shown(question: &Question, extent: Extent, style: Style, width: Option<usize>) -> ShownQuestion {
    let mut sheet = QuestionSheet::new(extent, style, width);
    sheet.line(TextStyle::Strong, heading(&question.subject));
    let hash = question.plugin_sha256.get(..HASH_DIGITS).unwrap_or(&question.plugin_sha256);
    let mut field = |label, value: &str, look| sheet.field(label, value, look);
    field("tool", &format!("{}   (plugin {hash}…)", question.tool), TextStyle::Plain);
    let permissions = question.permissions.to_string();
    field("permissions", if permissions.is_empty() { "none" } else { &permissions }, TextStyle::Plain);
    field("for", &caller(question), TextStyle::Plain);
    sheet.fields("handles", &question.handles, HANDLES_MAX, "handles");
    sheet.field("because", &question.reason, TextStyle::Plain);
    if let Some(changed) = &question.changed {
        let changed = format!("since the remembered approval: {changed}");
        sheet.field("changed", &changed, TextStyle::Strong);
    }
    show_calls(&mut sheet, &question.subject, CALL_ROWS_MAX);
    arguments(&mut sheet, question);
    if let Some(difference) = &question.difference {
        show_difference(&mut sheet, difference);
    }
    show_resource(&mut sheet, &question.subject);
    if !question.is_once() {
        show_offers(&mut sheet, question);
    }
    ShownQuestion { unseen: sheet.unseen(), text: sheet.text }
}

/// Lays out a difference that was shown to an approver earlier.
pub(crate) fn show_kept_difference(difference: &str, style: Style, width: Option<usize>) -> String {
    let mut sheet = QuestionSheet::new(Extent::Whole, style, width);
    show_difference(&mut sheet, difference);
    sheet.text
}

/// Returns the lines below the details that say how long a remembered approval lasts, and how to choose what it covers.
pub(crate) fn choices(question: &Question, style: Style, times: Option<(Duration, Duration)>) -> String {
    let mut sheet = QuestionSheet::new(Extent::Screen, style, None);
    if let Some((session, always)) = times {
        let (session, always) = (span(session), span(always));
        sheet.line(TextStyle::Quiet, &format!("  a session approval lasts {session}, an always approval {always}"));
    }
    let last = question.offers.len() + 1;
    if last > 1 {
        sheet.line(TextStyle::Quiet, &format!("  1 to {last} chooses what s and a cover"));
    }
    sheet.text
}

fn heading(subject: &Subject) -> &'static str {
    match subject {
        Subject::Call => "This call needs your approval.",
        Subject::Repeat => "The same call was made several times in a row. Allow it once more?",
        Subject::Resource { .. } => "A running call asks for something more.",
        Subject::Calls(_) => "A running call asks about the calls that it plans to make.",
    }
}

/// Returns the principal, the origin and the session of the caller.
fn caller(question: &Question) -> String {
    format!("{} ({}), session {}", question.principal, question.origin, question.session)
}

fn arguments(sheet: &mut QuestionSheet, question: &Question) {
    let text = &question.arguments;
    sheet.line(TextStyle::Plain, &format!("  arguments, exactly as they will run ({} bytes):", text.len()));
    let encoded = Lines(&json::indent(text)).to_string();
    sheet.block(encoded.lines().map(|line| (TextStyle::Plain, line)), ARGUMENT_ROWS_MAX);
    match count_invisible_in_json(text) {
        Some(0) => {}
        Some(count) => careful(sheet, "the arguments contain", count),
        None => sheet.line(TextStyle::Bad, "  Warning: the arguments cannot be parsed."),
    }
}

/// Adds the changes to files, labelled as the plugin's claim.
fn show_difference(sheet: &mut QuestionSheet, difference: &str) {
    sheet.line(TextStyle::Plain, "  what would change, as claimed by the plugin (only the arguments decide):");
    let encoded: Vec<String> = difference.split_terminator('\n').map(|line| OneLine(line).to_string()).collect();
    let lines = encoded.iter().map(|line| (diff_style(line), line.as_str()));
    sheet.block(lines, DIFFERENCE_ROWS_MAX);
    let count = count_invisible(difference);
    if count > 0 {
        careful(sheet, "the change contains", count);
    }
}

fn show_offers(sheet: &mut QuestionSheet, question: &Question) {
    let exact = match question.subject {
        Subject::Call | Subject::Repeat => "exactly these arguments",
        Subject::Resource { .. } | Subject::Calls(_) => "exactly this",
    };
    sheet.line(TextStyle::Plain, "  a session or always approval covers one of these:");
    sheet.numbered(1, exact);
    let lines = question.offers.iter().enumerate().map(|(place, offer)| (place + 2, offer.as_str()));
    sheet.numbered_list(lines, OFFERS_MAX, "offers");
}

#[cfg(test)]
mod tests;
