//! Finds the matching lines of one file. The expression runs over the whole text, because starting it for each line
//! would cost more than the search itself. A match counts only if its line matches alone.

use std::ops::Range;

use regex::bytes::Regex;

/// An iterator over the matching lines. An item is the line's number from 1 and its range without the line feed.
pub(super) struct Lines<'a> {
    regex: &'a Regex,
    text: &'a [u8],
    /// Whether the expression may use `\A` or `\z`. They match at each line alone, so it must run line by line.
    line_by_line: bool,
    position: usize,
    /// The number of the line at `counted`.
    number: usize,
    counted: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(regex: &'a Regex, text: &'a [u8]) -> Self {
        let line_by_line = regex.as_str().contains(r"\A") || regex.as_str().contains(r"\z");
        Self { regex, text, line_by_line, position: 0, number: 1, counted: 0 }
    }
}

impl Iterator for Lines<'_> {
    type Item = (usize, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        while self.position < self.text.len() {
            // The earliest end of any match is at or before the end of the next line that matches alone, so no such
            // line is skipped.
            let end = match self.line_by_line {
                true => self.position,
                false => self.regex.shortest_match_at(self.text, self.position)?,
            };
            if end >= self.text.len() && self.text.ends_with(b"\n") {
                // There is no line after the final line feed.
                let last = line_around(self.text, self.text.len() - 1);
                if last.start < self.position {
                    return None;
                }
                self.position = self.text.len();
                return self.check(last);
            }
            let line = line_around(self.text, end);
            self.position = line.end + 1;
            if let Some(found) = self.check(line) {
                return Some(found);
            }
        }
        None
    }
}

impl Lines<'_> {
    fn check(&mut self, line: Range<usize>) -> Option<(usize, Range<usize>)> {
        let content = &self.text[line.clone()];
        if !self.regex.is_match(content.strip_suffix(b"\r").unwrap_or(content)) {
            return None;
        }
        self.number += self.text[self.counted..line.start].iter().filter(|byte| **byte == b'\n').count();
        self.counted = line.start;
        Some((self.number, line))
    }
}

/// Returns the line that contains a position. A line feed belongs to the line that it ends.
pub(super) fn line_around(text: &[u8], position: usize) -> Range<usize> {
    let start = text[..position].iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
    let end = text[position..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |index| position + index);
    start..end
}
