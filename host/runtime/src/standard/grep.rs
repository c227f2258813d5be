//! `output.grep`: the lines of a kept output that match a regular expression, with those around them. Time is linear in
//! the output, and memory does not depend on it: a line is looked at in windows.

use super::call::{Call, Stopping, Trouble, answer};
use crate::outputs::{Lines, Piece};
use crate::text::{OneLine, cut};
use portcullis_sandbox::{Failure, Success};
use regex::bytes::{Regex, RegexBuilder};
use std::collections::VecDeque;
use std::fmt::Write;

/// Matches that are shown unless said otherwise.
const MATCHES_DEFAULT: u64 = 100;

/// Compiled size of a pattern, in bytes: enough for what a person writes, and what bounds the time of each byte.
const PATTERN_BYTES_MAX: usize = 512 * 1024;

/// What the pattern may hold ready besides, in bytes.
const PATTERN_CACHE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What of a line is looked at once, in bytes. A line up to this is searched exactly.
const WINDOW_BYTES: usize = 64 * 1024;

/// What a window has in common with the one before, in bytes: a match up to this is found wherever it lies in a longer
/// line.
const OVERLAP_BYTES: usize = 16 * 1024;

/// What is shown of a line, in bytes.
const LINE_SHOWN_BYTES_MAX: usize = 500;

/// What is shown of a longer line before its match, in bytes.
const LEAD_BYTES: usize = 100;

/// Columns of a line's number.
const NUMBER_COLUMNS: usize = 6;

pub(super) fn grep(call: &Call, stop: &Stopping) -> Result<Success, Trouble> {
    let pattern = pattern(call)?;
    let (kept, mut lines) = call.outputs.lines(call.reader(), call.text("reference"))?;
    lines.go_to(call.number("offset").unwrap_or(1), || stop.check())?;
    let mut found = Found::new(call);
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
            "[Portcullis: {matches} matching lines so far, of {lines} lines. Go on with output.grep \
             {{\"reference\":\"{reference}\",\"offset\":{next}, ...}}.]"
        ),
        None => writeln!(page, "[Portcullis: {matches} matching lines, of {lines} lines.]"),
    };
    Ok(answer(page))
}

fn pattern(call: &Call) -> Result<Regex, Trouble> {
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

/// A line that was looked at.
struct Line {
    /// What is shown of it.
    excerpt: String,
    matches: bool,
}

/// Reads one line and looks for the pattern in it.
fn look(lines: &mut Lines, pattern: &Regex, wanted: bool, stop: &Stopping) -> Result<Option<Line>, Trouble> {
    // The byte before what is looked at comes with it, so that a pattern knows whether the line or a word begins there.
    let (mut window, mut begins_at, mut from) = (Vec::new(), 0_u64, 0);
    let mut beginning = None;
    loop {
        stop.check()?;
        let Some(piece) = lines.next(WINDOW_BYTES - window.len(), &mut window)? else { return Ok(None) };
        let is_end = piece == Piece::LineEnd;
        let text = match window.strip_suffix(b"\r") {
            Some(text) if is_end => text,
            Some(_) | None => &window,
        };
        let found = if wanted { pattern.find_at(text, from.min(text.len())) } else { None };
        // What ends where the window does may go on behind it, or not end the line as it seems to.
        if let Some(found) = found.filter(|found| is_end || found.end() < window.len()) {
            let excerpt = excerpt(text, begins_at, found.start(), is_end);
            if !is_end {
                pass_over(lines, stop)?;
            }
            return Ok(Some(Line { excerpt, matches: true }));
        }
        let shown = beginning.take().unwrap_or_else(|| excerpt(text, begins_at, 0, is_end));
        if is_end {
            return Ok(Some(Line { excerpt: shown, matches: false }));
        }
        beginning = Some(shown);
        let passed = window.len().saturating_sub(OVERLAP_BYTES + 1);
        window.drain(..passed);
        begins_at += passed as u64;
        from = 1;
    }
}

/// Reads to the end of the line.
fn pass_over(lines: &mut Lines, stop: &Stopping) -> Result<(), Trouble> {
    let mut passed = Vec::new();
    loop {
        stop.check()?;
        passed.clear();
        if lines.next(WINDOW_BYTES, &mut passed)? != Some(Piece::Unfinished) {
            return Ok(());
        }
    }
}

/// A line, or what lies around a place of it.
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

/// What was found so far.
struct Found {
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

impl Found {
    fn new(call: &Call) -> Self {
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

    /// Takes the next line; not so where the page has no room for it.
    fn take(&mut self, number: u64, line: &Line) -> bool {
        if line.matches {
            let before: usize = self.before.iter().map(|(_, text)| room_of(text)).sum();
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

/// What a line takes of a page, in bytes, with its number and what separates it.
fn room_of(text: &str) -> usize {
    text.len() + 32
}
