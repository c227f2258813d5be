//! Replaces a few bytes of a text and copies all others.
//!
//! This file must not know TOML.

use std::ops::Range;

/// A byte order mark, which stays before the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Bytes to replace, and what replaces them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextSplice {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
}

impl TextSplice {
    /// Inserts a text before a byte.
    pub(crate) fn insert(at: usize, with: impl Into<String>) -> Self {
        Self { range: at..at, with: with.into() }
    }

    /// Replaces a range.
    pub(crate) fn replace(range: Range<usize>, with: impl Into<String>) -> Self {
        Self { range, with: with.into() }
    }
}

/// Returns the text with all splices, which must not overlap. A splice that does not fit the text is left out. The
/// check of the result then finds that it is missing.
pub(crate) fn spliced(text: &str, mut splices: Vec<TextSplice>) -> String {
    // The sort is stable, so insertions at one place keep their order.
    splices.sort_by_key(|splice| splice.range.start);
    let mut result = String::with_capacity(text.len() + splices.iter().map(|splice| splice.with.len()).sum::<usize>());
    let mut copied = 0;
    for TextSplice { range, with } in &splices {
        let Some(before) = text.get(copied..range.start) else { continue };
        result.push_str(before);
        result.push_str(with);
        copied = range.end;
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    result
}

/// Returns the start of the first line, which is behind a byte order mark.
pub(crate) fn text_start(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

/// Returns the start of the line that contains a byte.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    let line_break = text.get(..at).and_then(|before| before.rfind('\n'));
    line_break.map_or_else(|| text_start(text), |line_break| line_break + 1)
}

/// Returns the end of the line that contains a byte, after its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |line_break| at + line_break + 1)
}

/// Returns the number of the line that contains a byte, counted from 1.
pub(crate) fn line_number(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// Returns the line break that the text uses.
pub(crate) fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns an insertion of whole lines before a byte that starts a line or ends the text. The lines have `\n` breaks.
pub(crate) fn insert_lines(text: &str, at: usize, lines: &str) -> TextSplice {
    let lines = lines.replace('\n', line_break(text));
    let needs_break = at > 0 && !text.get(..at).is_some_and(|before| before.ends_with('\n'));
    let first = if needs_break { line_break(text) } else { "" };
    TextSplice::insert(at, format!("{first}{lines}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_apply_to_the_original_bytes() {
        let splices = vec![TextSplice::replace(4..5, "X"), TextSplice::insert(0, "<"), TextSplice::insert(6, ">")];
        assert_eq!(spliced("abcdef", splices), "<abcdXf>");
    }

    #[test]
    fn lines_are_inserted_with_the_line_breaks_of_the_text() {
        let insert = |text: &str| spliced(text, vec![insert_lines(text, text.len(), "b\n")]);
        assert_eq!(insert("a\r\n"), "a\r\nb\r\n");
        assert_eq!(insert("a"), "a\nb\n");
        assert_eq!(insert(""), "b\n");
    }
}
