//! The matches that `grep` has found so far, and the text of its answer.

use std::fmt::Write as _;
use std::ops::Range;

use portcullis_sdk::prelude::*;
use regex::bytes::Regex;

use super::search::{Lines, line_around};
use crate::coverage::Coverage;
use crate::place::Place;
use crate::text::{self, OUTPUT_BYTES_MAX};

/// Maximum number of characters to show of a line. A search shows many lines, and a match needs little context.
const LINE_CHARACTERS_MAX: usize = 400;

/// Number of characters to show before the match in a line that is cut.
const CHARACTERS_BEFORE_MATCH: usize = 100;

/// The matches found so far, with their counts.
pub(super) struct Report {
    limit: usize,
    context: usize,
    text: String,
    matches: usize,
    files_matching: usize,
    files_searched: usize,
    binary: usize,
    large: usize,
    unreadable: usize,
    full: bool,
}

impl Report {
    pub(super) fn new(limit: usize, context: usize) -> Self {
        Self {
            limit,
            context,
            text: String::new(),
            matches: 0,
            files_matching: 0,
            files_searched: 0,
            binary: 0,
            large: 0,
            unreadable: 0,
            full: false,
        }
    }

    /// Returns whether there are more matches than the call asked for.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn skip_binary(&mut self) {
        self.binary += 1;
    }

    pub(super) fn skip_large(&mut self) {
        self.large += 1;
    }

    pub(super) fn skip_unreadable(&mut self) {
        self.unreadable += 1;
    }

    /// Searches one file.
    pub(super) fn search(&mut self, place: &Place, regex: &Regex, bytes: &[u8]) {
        self.files_searched += 1;
        let mut matching = false;
        let mut shown = Shown::default();
        for (number, line) in Lines::new(regex, bytes) {
            // Stop at one match more than is shown, so that the answer knows that there are more.
            if self.matches == self.limit || self.text.len() >= OUTPUT_BYTES_MAX {
                self.full = true;
                break;
            }
            if !matching && !self.text.is_empty() {
                self.text.push('\n');
            }
            (matching, self.matches) = (true, self.matches + 1);
            self.after(place, bytes, &mut shown, number);
            self.before(place, bytes, &mut shown, number, line.start);
            self.line(place, number, ':', &bytes[line.clone()], Some(regex));
            shown = Shown { number, end: line.end };
        }
        if matching {
            self.after(place, bytes, &mut shown, usize::MAX);
            self.files_matching += 1;
        }
    }

    /// Adds the lines after the last match, up to the next one.
    fn after(&mut self, place: &Place, bytes: &[u8], shown: &mut Shown, next: usize) {
        if shown.number == 0 {
            return;
        }
        for _ in 0..self.context {
            if shown.number + 1 >= next || shown.end + 1 >= bytes.len() {
                return;
            }
            let line = line_around(bytes, shown.end + 1);
            self.line(place, shown.number + 1, '-', &bytes[line.clone()], None);
            *shown = Shown { number: shown.number + 1, end: line.end };
        }
    }

    /// Adds the lines before a match that were not shown yet.
    fn before(&mut self, place: &Place, bytes: &[u8], shown: &mut Shown, number: usize, start: usize) {
        let mut lines: Vec<Range<usize>> = Vec::new();
        let mut start = start;
        while start > 0 && lines.len() < self.context && number - lines.len() > shown.number + 1 {
            let line = line_around(bytes, start - 1);
            start = line.start;
            lines.push(line);
        }
        if self.context > 0 && shown.number > 0 && number - lines.len() > shown.number + 1 {
            self.text.push_str("--\n");
        }
        for (back, line) in lines.iter().enumerate().rev() {
            self.line(place, number - back - 1, '-', &bytes[line.clone()], None);
        }
    }

    fn line(&mut self, place: &Place, number: usize, mark: char, line: &[u8], regex: Option<&Regex>) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // The search reports only the line, so find the place in it again.
        let start = regex.and_then(|regex| regex.find(line)).map_or(0, |found| found.start());
        let (window, cut_before, cut_after) = window(line, start);
        let (before, after) = (if cut_before { "[...] " } else { "" }, if cut_after { " [...]" } else { "" });
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{}{mark}{number}{mark} {before}{window}{after}", place.shown());
    }

    /// Returns the answer, with a note for everything that was left out.
    pub(super) fn answer(mut self, regex: &str, coverage: &Coverage) -> Success<String> {
        if self.matches == 0 {
            let files = text::count(self.files_searched, "file");
            self.text = format!("(no line matches; {files} searched)\n");
        }
        for (number, noun) in
            [(self.binary, "binary file"), (self.large, "large file"), (self.unreadable, "unreadable file")]
        {
            if number > 0 && self.matches == 0 {
                let _ = writeln!(self.text, "({} skipped)", text::count(number, noun));
            }
        }
        if self.full {
            let shown = text::count(self.matches, "match");
            let _ = writeln!(self.text, "\n(stopped after {shown}; there are more: raise limit, or narrow the search)");
        }
        for note in coverage.notes() {
            let _ = writeln!(self.text, "\n{note}");
        }
        let found = text::count(self.matches, "match");
        Success::new(self.text).title(format!("{found} in {}", text::count(self.files_matching, "file"))).metadata(
            json!({
                "regex": regex,
                "matches": self.matches,
                "files_matching": self.files_matching,
                "files_searched": self.files_searched,
                "skipped": { "binary": self.binary, "large": self.large, "unreadable": self.unreadable },
                "more": self.full || !coverage.is_whole(),
                "not_searched": coverage.metadata(),
            }),
        )
    }
}

/// The last line that was shown; its number is 0 before the first.
#[derive(Default, Clone, Copy)]
struct Shown {
    number: usize,
    end: usize,
}

/// Returns the part of a line around a match, and whether it was cut before and after.
fn window(line: &[u8], match_start: usize) -> (String, bool, bool) {
    let (head, tail) = line.split_at(match_start);
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let head_length = head.chars().count();
    let skipped = match head_length + tail.chars().count() {
        length if length <= LINE_CHARACTERS_MAX => 0,
        _ => head_length.saturating_sub(CHARACTERS_BEFORE_MATCH),
    };
    let mut characters = head.chars().skip(skipped).chain(tail.chars());
    let window: String = characters.by_ref().take(LINE_CHARACTERS_MAX).collect();
    (window, skipped > 0, characters.next().is_some())
}
