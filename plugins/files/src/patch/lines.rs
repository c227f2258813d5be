//! A file as lines. A patch replaces some of them, and the others keep their bytes.

use super::hunk::{Hunk, Mark};
use crate::endings::Endings;

/// The mark with which some programs begin a file of UTF-8. `read` does not show it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileLine<'t> {
    text: &'t str,
    /// The line ending; empty for a last line without one.
    end: &'t str,
}

/// A file.
#[derive(Debug)]
pub(super) struct FileLines<'t> {
    has_byte_order_mark: bool,
    lines: Vec<FileLine<'t>>,
    endings: Endings,
}

impl<'t> FileLines<'t> {
    /// Splits a text.
    pub(super) fn of(text: &'t str) -> Self {
        let endings = Endings::of(text);
        let (has_byte_order_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        Self { has_byte_order_mark, lines: text.split_inclusive('\n').map(split).collect(), endings }
    }

    /// Returns the texts of the lines, without their endings.
    pub(super) fn texts(&self) -> Vec<&'t str> {
        self.lines.iter().map(|line| line.text).collect()
    }

    /// Returns whether the file has lines, and the last one has no ending.
    pub(super) fn is_unterminated(&self) -> bool {
        self.lines.last().is_some_and(|line| line.end.is_empty())
    }

    /// Returns the text after hunks that were located at these lines, counted from 0, in ascending order.
    pub(super) fn patched(&self, located: &[(usize, &Hunk<'_>)]) -> String {
        let mut result: Vec<FileLine<'_>> = Vec::with_capacity(self.lines.len());
        let mut position = 0;
        let mut is_unterminated = self.is_unterminated();
        for (start, hunk) in located {
            result.extend_from_slice(&self.lines[position..*start]);
            position = *start;
            let end = self.ending_near(*start);
            for line in &hunk.lines {
                match line.mark {
                    Mark::Context => {
                        // Take the line of the file and not that of the hunk, because it has the file's own ending.
                        result.push(self.lines[position]);
                        position += 1;
                    }
                    Mark::Removed => position += 1,
                    Mark::Added => result.push(FileLine { text: line.text, end }),
                }
            }
            if hunk.old_is_unterminated || hunk.new_is_unterminated {
                is_unterminated = hunk.new_is_unterminated;
            }
        }
        result.extend_from_slice(&self.lines[position..]);
        self.joined(&result, is_unterminated)
    }

    fn joined(&self, lines: &[FileLine<'_>], is_unterminated: bool) -> String {
        let bytes: usize = lines.iter().map(|line| line.text.len() + 2).sum();
        let mut text = String::with_capacity(bytes + BYTE_ORDER_MARK.len_utf8());
        if self.has_byte_order_mark {
            text.push(BYTE_ORDER_MARK);
        }
        for (index, line) in lines.iter().enumerate() {
            text.push_str(line.text);
            let is_last = index + 1 == lines.len();
            match line.end {
                _ if is_last && is_unterminated => {}
                // The line was the last one and had no ending. Now another line follows it.
                "" => text.push_str(self.endings.most_frequent()),
                end => text.push_str(end),
            }
        }
        text
    }

    /// Returns the line ending of a line, or of the one before it if the line is the last.
    fn ending_near(&self, index: usize) -> &'t str {
        let near = self.lines[..self.lines.len().min(index + 1)].iter().rev();
        let mut endings = near.map(|line| line.end).filter(|end| !end.is_empty());
        endings.next().unwrap_or_else(|| self.endings.most_frequent())
    }
}

fn split(line: &str) -> FileLine<'_> {
    let text = line.strip_suffix('\n').map_or(line, |text| text.strip_suffix('\r').unwrap_or(text));
    FileLine { text, end: &line[text.len()..] }
}
