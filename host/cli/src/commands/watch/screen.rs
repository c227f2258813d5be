//! The screen of `portcullis watch`, as rows of text. This file does no I/O.

use super::call_line::{call_line, fitted};
use super::model::WatchModel;
use crate::question::{RememberedCovers, Sheet, ShownQuestion, Unseen, keys, laid_out_in};
use crate::style::{Style, TextStyle};
use crate::wrap::folded;
use portcullis::Question;

/// Rows of the inbox besides the request that is open.
const INBOX_ROWS_MAX: usize = 6;

/// Rows that calls always have, if there are any.
const CALL_ROWS_MIN: usize = 3;

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScreenSize {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// The request that is open on the screen.
pub(super) struct OpenRequest<'a> {
    /// The request, with its difference to the current files.
    pub(super) question: &'a Question,
    pub(super) covers: RememberedCovers,
}

/// A drawn screen.
pub(super) struct DrawnScreen {
    pub(super) rows: Vec<String>,
    /// Whether a part of the open request is not on it.
    pub(super) unseen: Unseen,
}

/// Draws the screen. The message is the host's own text.
pub(super) fn draw(
    model: &WatchModel,
    open: Option<&OpenRequest<'_>>,
    message: &str,
    now_ms: i64,
    (style, size): (Style, ScreenSize),
) -> DrawnScreen {
    let width = size.columns;
    let mut rows = vec![style.paint(TextStyle::Strong, fitted(&heading(model), width)).to_string()];
    rows.extend(inbox(model, style, width));
    let (mut below, mut unseen) = (Vec::new(), Unseen::Nothing);
    if let Some(open) = open {
        let keys = keys(open.question, open.covers, style, Some(width));
        below.extend(keys.lines().map(str::to_owned));
    }
    below.extend(message_rows(message, style, width));
    let hint = match (open.is_some(), model.inbox().len()) {
        (false, _) => "q quit".to_owned(),
        (true, 0 | 1) => "j/k next or previous request, q quit".to_owned(),
        (true, count) => format!("j/k next or previous request, r review all {count}, q quit"),
    };
    below.push(style.paint(TextStyle::Quiet, fitted(&hint, width)).to_string());
    let calls = model.calls().count().min(CALL_ROWS_MIN);
    if let Some(open) = open {
        let room = size.rows.saturating_sub(rows.len() + below.len() + calls + 2);
        let shown = request(open.question, style, width, room);
        unseen = shown.unseen;
        rows.push(String::new());
        rows.extend(shown.text.lines().map(str::to_owned));
    }
    let room = size.rows.saturating_sub(rows.len() + below.len() + 1);
    if calls > 0 && room > 0 {
        rows.push(String::new());
        rows.extend(model.calls().take(room).map(|call| call_line(call, now_ms, style, width)));
    }
    if rows.len() + below.len() > size.rows {
        // What does not fit was not seen, so nothing can be approved on such a screen.
        rows.truncate(size.rows.saturating_sub(below.len()));
        unseen = Unseen::Some;
    }
    // The keys stay at the bottom of the screen.
    rows.resize(size.rows.saturating_sub(below.len()), String::new());
    rows.extend(below);
    DrawnScreen { rows, unseen }
}

/// Returns the rows of a message of the host, which is already encoded.
pub(super) fn message_rows(message: &str, style: Style, width: usize) -> Vec<String> {
    let rows = message.lines().flat_map(|line| folded(line, width));
    rows.map(|row| style.paint(TextStyle::Doubtful, row).to_string()).collect()
}

fn heading(model: &WatchModel) -> String {
    let count = |number: usize, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    };
    let running = model.calls().filter(|call| call.end.is_none()).count();
    format!(
        "portcullis watch: {}, {} under way, {}",
        count(model.inbox().len(), "request waits", "requests wait"),
        count(running, "call", "calls"),
        count(model.hosts(), "host", "hosts")
    )
}

/// Lists the requests around the selected one.
fn inbox(model: &WatchModel, style: Style, width: usize) -> Vec<String> {
    let Some(selected) = model.selected_place().filter(|_| model.inbox().len() > 1) else { return Vec::new() };
    let first = selected.saturating_sub(INBOX_ROWS_MAX / 2).min(model.inbox().len().saturating_sub(INBOX_ROWS_MAX));
    let line = |(place, request): (usize, &portcullis::approvals::OpenQuestion)| {
        let targets = request
            .question
            .as_ref()
            .map(|question| question.targets.iter().map(|(_, text)| text.to_owned()).collect::<Vec<_>>().join(", "));
        let waits = if request.waited_for { "" } else { "  (no call waits)" };
        let mark = if place == selected { ">" } else { " " };
        let who =
            request.question.as_ref().and_then(|question| question.agent.as_deref()).unwrap_or(&request.principal);
        let line = format!("{mark} {}  {}  {who}{waits}", request.tool, targets.unwrap_or_default());
        let look = if place == selected { TextStyle::Strong } else { TextStyle::Plain };
        style.paint(look, fitted(&line, width)).to_string()
    };
    let mut rows: Vec<String> = model.inbox().iter().enumerate().skip(first).take(INBOX_ROWS_MAX).map(line).collect();
    let more = model.inbox().len().saturating_sub(first + INBOX_ROWS_MAX);
    if more > 0 {
        rows.push(style.paint(TextStyle::Quiet, fitted(&format!("  … {more} more"), width)).to_string());
    }
    rows
}

/// Lays the request out in the rows that are left. What does not fit them is unseen.
fn request(question: &Question, style: Style, width: usize, room: usize) -> ShownQuestion {
    // `laid_out_in` takes off the rows of the answer, which `room` does not include.
    let mut shown = laid_out_in(question, Sheet::Brief, style, (Some(width), Some(room + 4)));
    if shown.text.lines().count() > room {
        let kept: Vec<&str> = shown.text.lines().take(room.saturating_sub(1)).collect();
        let note = style.paint(TextStyle::Doubtful, fitted("  … ? shows all", width));
        shown = ShownQuestion { text: format!("{}\n{note}\n", kept.join("\n")), unseen: Unseen::Some };
    }
    shown
}
