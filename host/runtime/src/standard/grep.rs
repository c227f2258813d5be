//! `output.grep`: finds the lines of a kept output that match a regular expression, with the lines around them. The
//! time is linear in the output's size. The memory does not depend on it, because lines are searched in windows.

use super::call::{StandardCall, StopSignal, Trouble, answer};
use crate::outputs::{LinePiece, OutputLines};
use crate::text::{OneLine, cut};
use portcullis_definitions::manifest::{Failure, Success};
use regex::bytes::{Regex, RegexBuilder};
use std::collections::VecDeque;
use std::fmt::Write;

/// Default maximum number of matches.
const MATCHES_DEFAULT: u64 = 100;

/// Maximum compiled size of a pattern, in bytes. It is enough for patterns that people write, and bounds the time per
/// byte.
const PATTERN_BYTES_MAX: usize = 512 * 1024;

/// Maximum size of the pattern's DFA cache, in bytes.
const PATTERN_CACHE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Size of a search window, in bytes. A line up to this length is searched exactly.
const WINDOW_BYTES: usize = 64 * 1024;

/// Overlap of two windows, in bytes. In a longer line, matches up to this length are always found.
const OVERLAP_BYTES: usize = 16 * 1024;

/// Maximum length of a line that is shown, in bytes.
const LINE_SHOWN_BYTES_MAX: usize = 500;

/// Bytes of a longer line that are shown before its match.
const LEAD_BYTES: usize = 100;

/// Columns of a line number.
const NUMBER_COLUMNS: usize = 6;

pub(super) fn grep(call: &StandardCall, stop: &StopSignal) -> Result<Success, Trouble> {
    let pattern = pattern(call)?;
    let (kept, mut lines) = call.outputs.lines(call.reader(), call.text("reference"))?;
    lines.go_to(call.number("offset").unwrap_or(1), || stop.check())?;
    let mut found = FoundLines::new(call);
    let next = loop {
        if found.is_full() && found.after_left == 0 {
            break Some(lines.line());
        }
        stop.check()?;
        let number = lines.line();
        let Some(line) = look(&mut lines, &pattern, !found.is_full(), stop)? else { break None };
        if !found.take(number, &line) {
            break Some(number);
        }
    };
    let mut page = found.page;
    let (matches, lines) = (found.matches, kept.reference.lines.unwrap_or(0));
    let reference = &kept.reference.id;
    let _ = match next.filter(|next| *next <= lines) {
        Some(next) => writeln!(
            page,
            "[Portcullis: {matches} matching lines so far, of {lines} lines. Continue with output.grep \
             {{\"reference\":\"{reference}\",\"offset\":{next}, ...}}.]"
        ),
        None => writeln!(page, "[Portcullis: {matches} matching lines, of {lines} lines.]"),
    };
    Ok(answer(page))
}

fn pattern(call: &StandardCall) -> Result<Regex, Trouble> {
    let ignore_case = call.arguments.get("ignore_case").and_then(serde_json::Value::as_bool).unwrap_or(false);
    let built = RegexBuilder::new(call.text("pattern"))
        .case_insensitive(ignore_case)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_CACHE_BYTES_MAX)
        .build();
    built.map_err(|error| {
        let error = error.to_string();
        let text = format!("the pattern cannot be used: {}", OneLine(cut(&error, 400)));
        Trouble::Failure(Failure::InvalidArguments(text))
    })
}

/// A line that was searched.
struct SearchedLine {
    /// The part that is shown.
    excerpt: String,
    matches: bool,
}

/// Reads one line and searches it for the pattern.
fn look(
    lines: &mut OutputLines,
    pattern: &Regex,
    wanted: bool,
    stop: &StopSignal,
) -> Result<Option<SearchedLine>, Trouble> {
    // The window keeps the byte before it, so that anchors and word boundaries match correctly at its start.
    let (mut window, mut begins_at, mut from) = (Vec::new(), 0_u64, 0);
    let mut beginning = None;
    loop {
        stop.check()?;
        let Some(piece) = lines.next(WINDOW_BYTES - window.len(), &mut window)? else { return Ok(None) };
        let is_end = piece == LinePiece::LineEnd;
        let text = match window.strip_suffix(b"\r") {
            Some(text) if is_end => text,
            Some(_) | None => &window,
        };
        let found = if wanted { pattern.find_at(text, from.min(text.len())) } else { None };
        // A match that ends with the window may continue after it, or match `$` by mistake.
        if let Some(found) = found.filter(|found| is_end || found.end() < window.len()) {
            let excerpt = excerpt(text, begins_at, found.start(), is_end);
            if !is_end {
                pass_over(lines, stop)?;
            }
            return Ok(Some(SearchedLine { excerpt, matches: true }));
        }
        let shown = beginning.take().unwrap_or_else(|| excerpt(text, begins_at, 0, is_end));
        if is_end {
            return Ok(Some(SearchedLine { excerpt: shown, matches: false }));
        }
        beginning = Some(shown);
        let passed = window.len().saturating_sub(OVERLAP_BYTES + 1);
        window.drain(..passed);
        begins_at += passed as u64;
        from = 1;
    }
}

/// Skips to the end of the line.
fn pass_over(lines: &mut OutputLines, stop: &StopSignal) -> Result<(), Trouble> {
    let mut passed = Vec::new();
    loop {
        stop.check()?;
        passed.clear();
        if lines.next(WINDOW_BYTES, &mut passed)? != Some(LinePiece::Unfinished) {
            return Ok(());
        }
    }
}

/// Returns a line, or its part around a position if it is long.
fn excerpt(text: &[u8], begins_at: u64, place: usize, is_end: bool) -> String {
    if begins_at == 0 && is_end && text.len() <= LINE_SHOWN_BYTES_MAX {
        return String::from_utf8_lossy(text).into_owned();
    }
    let is_inside = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let begin = (place.saturating_sub(LEAD_BYTES)..place).find(|at| !is_inside(at)).unwrap_or(place);
    let end = text.len().min(begin + LINE_SHOWN_BYTES_MAX);
    let end = (begin..end).rev().find(|at| !is_inside(&(at + 1))).map_or(end, |at| at + 1);
    let column = begins_at + begin as u64 + 1;
    format!("[from byte {column} of the line] {} [...]", String::from_utf8_lossy(&text[begin..end]))
}

/// The matches and the page so far.
struct FoundLines {
    before: VecDeque<(u64, String)>,
    before_max: usize,
    after_max: u64,
    after_left: u64,
    matches: u64,
    matches_max: u64,
    last_shown: u64,
    page: String,
    page_bytes: usize,
}

impl FoundLines {
    fn new(call: &StandardCall) -> Self {
        let count = |name| call.number(name).unwrap_or(0);
        Self {
            before: VecDeque::new(),
            before_max: usize::try_from(count("before")).unwrap_or(0),
            after_max: count("after"),
            after_left: 0,
            matches: 0,
            matches_max: call.number("max_matches").unwrap_or(MATCHES_DEFAULT),
            last_shown: 0,
            page: String::new(),
            page_bytes: call.page_bytes(),
        }
    }

    fn is_full(&self) -> bool {
        self.matches >= self.matches_max
    }

    /// Processes the next line. Returns false if the page has no room for it.
    fn take(&mut self, number: u64, line: &SearchedLine) -> bool {
        if line.matches {
            let before: usize = self.before.iter().map(|(_, text)| room_of(text)).sum();
            // The first match is always shown. Otherwise the next page would begin at the same line, again and again.
            if self.matches > 0 && self.page.len() + before + room_of(&line.excerpt) > self.page_bytes {
                return false;
            }
            for (number, text) in std::mem::take(&mut self.before) {
                self.show(number, '-', &text);
            }
            self.show(number, ':', &line.excerpt);
            (self.matches, self.after_left) = (self.matches + 1, self.after_max);
        } else if self.after_left > 0 {
            self.after_left -= 1;
            if self.page.len() + room_of(&line.excerpt) > self.page_bytes {
                return false;
            }
            self.show(number, '-', &line.excerpt);
        } else if self.before_max > 0 {
            if self.before.len() == self.before_max {
                self.before.pop_front();
            }
            self.before.push_back((number, line.excerpt.clone()));
        }
        true
    }

    fn show(&mut self, number: u64, mark: char, text: &str) {
        if self.last_shown > 0 && number > self.last_shown + 1 && (self.before_max > 0 || self.after_max > 0) {
            self.page.push_str("--\n");
        }
        self.last_shown = number;
        let _ = writeln!(self.page, "{number:>NUMBER_COLUMNS$}{mark}{text}");
    }
}

/// Returns the room that a line takes on a page, in bytes, with its number and separators.
fn room_of(text: &str) -> usize {
    text.len() + 32
}
