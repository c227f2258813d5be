//! Requests that a person reviews together: their text in pages, and how much of it was on the screen. This file does
//! no I/O.
//!
//! Each request is shown whole. One whose short form is cut on one screen is shown with its details.

use super::call_line::fitted;
use super::screen::{ScreenSize, message_rows};
use crate::question::{Sheet, Unseen, key_lines, laid_out_in};
use crate::style::{Style, TextStyle};
use crate::wrap::wrapped;
use portcullis::Question;
use portcullis::approvals::{OpenQuestion, ShownDigest, Status};

/// Maximum requests of one review.
const REQUESTS_MAX: usize = 256;

/// Maximum bytes of the arguments and differences of one review. A person would not read more at once.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// Maximum bytes of the arguments and the difference of one request in a review. A longer one is answered alone.
const REQUEST_BYTES_MAX: usize = 256 * 1024;

/// A request as a review or the screen shows it.
pub(super) struct ReviewedRequest {
    pub(super) question: Question,
    pub(super) digest: ShownDigest,
    waited_for: bool,
}

/// The requests of one review, and what was on the screen so far.
#[derive(Default)]
pub(super) struct Review {
    requests: Vec<ReviewedRequest>,
    bytes: usize,
    /// Requests that are too long to be in it.
    left_out: usize,
    pages: ReviewPages,
}

/// The rows of a review that are on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReviewedPage {
    size: Option<ScreenSize>,
    top: usize,
    shown: usize,
}

/// The text of a review, laid out for one size of the terminal.
#[derive(Default)]
struct ReviewPages {
    size: Option<ScreenSize>,
    rows: Vec<String>,
    /// The first row of each request.
    starts: Vec<usize>,
    /// The first row on the screen.
    top: usize,
    /// Rows on the screen, as it was last drawn.
    shown: usize,
    /// Rows that were on the screen, from the first one on, without a gap.
    seen: usize,
}

impl ReviewedRequest {
    /// Takes a request as it is now. Returns nothing if it is not open.
    pub(super) fn of(open: OpenQuestion) -> Option<Self> {
        // A request that was answered keeps its text for a while.
        let question = open.question.filter(|_| open.status == Status::Pending)?;
        let digest = ShownDigest::of(&question);
        Some(Self { question, digest, waited_for: open.waited_for })
    }
}

impl Review {
    /// Adds a request, unless it is too long.
    pub(super) fn add(&mut self, request: ReviewedRequest) {
        let question = &request.question;
        let bytes = question.arguments.len() + question.difference.as_ref().map_or(0, String::len);
        if bytes > REQUEST_BYTES_MAX || self.bytes + bytes > BYTES_MAX || self.requests.len() == REQUESTS_MAX {
            self.left_out += 1;
            return;
        }
        self.bytes += bytes;
        self.requests.push(request);
    }

    pub(super) fn requests(&self) -> &[ReviewedRequest] {
        &self.requests
    }

    /// Goes to the next page.
    pub(super) fn next(&mut self) {
        let pages = &mut self.pages;
        if pages.top + pages.shown < pages.rows.len() {
            pages.top += pages.shown;
        }
    }

    /// Goes to the page before.
    pub(super) fn previous(&mut self) {
        self.pages.top = self.pages.top.saturating_sub(self.pages.shown.max(1));
    }

    /// Returns how many rows were not on the screen yet. With none, the requests can be approved.
    pub(super) fn unseen_rows(&self) -> usize {
        match self.pages.size {
            Some(_) => self.pages.rows.len() - self.pages.seen,
            // Nothing was laid out yet, so nothing was seen.
            None => usize::MAX,
        }
    }

    /// Draws the page. Call [`Self::was_drawn`] when it is on the screen.
    pub(super) fn draw(&mut self, message: &str, style: Style, size: ScreenSize) -> Vec<String> {
        if self.pages.size != Some(size) {
            self.lay_out(style, size);
        }
        let mut below: Vec<String> = key_lines(&self.keys(), style, size.columns).lines().map(str::to_owned).collect();
        below.extend(message_rows(message, style, size.columns));
        let pages = &mut self.pages;
        pages.shown = size.rows.saturating_sub(below.len() + 1).min(pages.rows.len() - pages.top);
        let heading = format!(
            "Review of {}: rows {} to {} of {}",
            requests(self.requests.len()),
            pages.top + 1,
            pages.top + pages.shown,
            pages.rows.len()
        );
        let mut rows = vec![style.paint(TextStyle::Strong, fitted(&heading, size.columns)).to_string()];
        rows.extend_from_slice(&pages.rows[pages.top..pages.top + pages.shown]);
        rows.resize(size.rows.saturating_sub(below.len()), String::new());
        rows.extend(below);
        rows
    }

    /// Notes that what was drawn is on the screen.
    pub(super) fn was_drawn(&mut self) {
        let pages = &mut self.pages;
        // A page after a gap does not count: the rows in between were not on the screen.
        if pages.top <= pages.seen {
            pages.seen = pages.seen.max(pages.top + pages.shown);
        }
    }

    /// Returns the page as it was last drawn.
    pub(super) fn page(&self) -> ReviewedPage {
        ReviewedPage { size: self.pages.size, top: self.pages.top, shown: self.pages.shown }
    }

    fn keys(&self) -> [(&'static str, String); 5] {
        let count = self.requests.len();
        [
            ("space", "next page".to_owned()),
            ("b", "previous page".to_owned()),
            ("y", if count == 1 { "approve it once".to_owned() } else { format!("approve all {count} once") }),
            ("n", "deny all, and say why".to_owned()),
            ("q", "back".to_owned()),
        ]
    }

    /// Lays the requests out for a size. Each request that was seen whole stays seen.
    fn lay_out(&mut self, style: Style, size: ScreenSize) {
        let before = std::mem::take(&mut self.pages);
        let ends = before.starts.iter().skip(1).copied().chain([before.rows.len()]);
        let seen = ends.take_while(|end| *end <= before.seen).count().min(before.starts.len());
        let at_top = before.starts.iter().take_while(|start| **start <= before.top).count().saturating_sub(1);
        let pages = &mut self.pages;
        if self.left_out > 0 {
            let note = format!("{} too long to review together: answer them one by one.", requests(self.left_out));
            pages.rows.extend(text_rows(&style.paint(TextStyle::Doubtful, note).to_string(), size.columns));
        }
        for (index, request) in self.requests.iter().enumerate() {
            // The first request begins at the first row, with the note above it.
            pages.starts.push(if index == 0 { 0 } else { pages.rows.len() });
            let waits = if request.waited_for { "" } else { ", no call waits" };
            let heading = format!("-- {} of {}{waits} --", index + 1, self.requests.len());
            pages.rows.push(style.paint(TextStyle::Quiet, heading).to_string());
            pages.rows.extend(text_rows(&whole(&request.question, style, size), size.columns));
        }
        pages.size = Some(size);
        pages.seen = pages.starts.get(seen).copied().unwrap_or(pages.rows.len());
        // Back to the first request that was not seen whole, so that none is skipped.
        pages.top = pages.starts.get(at_top.min(seen)).copied().unwrap_or(0);
    }
}

/// Lays one request out whole. What does not fit one screen in its short form is shown with its details.
fn whole(question: &Question, style: Style, size: ScreenSize) -> String {
    let laid_out = |sheet| laid_out_in(question, sheet, style, (Some(size.columns), Some(size.rows)));
    let brief = laid_out(Sheet::Brief);
    match brief.unseen {
        Unseen::Nothing => brief.text,
        Unseen::Some => laid_out(Sheet::Details).text,
    }
}

/// Returns rows that fit the terminal, so that none of them pushes another off the screen.
fn text_rows(text: &str, columns: usize) -> Vec<String> {
    wrapped(text, Some(columns)).lines().map(str::to_owned).collect()
}

fn requests(count: usize) -> String {
    if count == 1 { "1 request".to_owned() } else { format!("{count} requests") }
}

#[cfg(test)]
mod tests;
