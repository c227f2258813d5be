//! Finds where a substitution ends, as bash does: with its quotes, its comments and its here-documents.
//!
//! Each function returns the index after the end; none if the end is not clear.

/// Maximum depth of substitutions, quotes and parentheses. A deeper text is for no reader.
const DEPTH_MAX: usize = 30;

/// Returns whether the quotes, substitutions and here-documents of a whole command are complete.
pub(super) fn is_complete(text: &str) -> bool {
    let scanner = Scanner { bytes: text.as_bytes() };
    scanner.whole().is_some()
}

/// Returns the end of `$(…)`, `<(…)` or `(…)`. The index is that of the first byte after the parenthesis.
pub(super) fn command_end(text: &str, start: usize) -> Option<usize> {
    Scanner { bytes: text.as_bytes() }.command(start, 0)
}

/// Returns the end of `$((…))`. The index is that of the first byte after both parentheses.
pub(super) fn arithmetic_end(text: &str, start: usize) -> Option<usize> {
    Scanner { bytes: text.as_bytes() }.arithmetic(start, 0)
}

/// Returns the end of `${…}`. The index is that of the first byte after the brace.
pub(super) fn parameter_end(text: &str, start: usize, is_quoted: bool) -> Option<usize> {
    Scanner { bytes: text.as_bytes() }.parameter(start, is_quoted, 0)
}

/// The delimiter of a here-document whose lines are still to come.
struct HereDelimiter {
    word: Vec<u8>,
    removes_tabs: bool,
    is_quoted: bool,
}

struct Scanner<'a> {
    bytes: &'a [u8],
}

impl Scanner<'_> {
    fn at(&self, index: usize) -> Option<u8> {
        self.bytes.get(index).copied()
    }

    fn starts(&self, index: usize, prefix: &[u8]) -> bool {
        self.bytes.get(index..).is_some_and(|rest| rest.starts_with(prefix))
    }

    /// Returns whether a word can begin here.
    fn is_word_start(&self, index: usize, start: usize) -> bool {
        index == start || matches!(self.bytes[index - 1], b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')')
    }

    /// Skips a command up to the end of the text. Its parentheses may be those of `case`.
    fn whole(&self) -> Option<()> {
        let mut index = 0;
        let mut pending: Vec<HereDelimiter> = Vec::new();
        while index < self.bytes.len() {
            index = match self.step(index, 0, &mut pending)? {
                Some(end) => end,
                None => self.part(index, 0, &pending)?,
            };
        }
        pending.is_empty().then_some(())
    }

    fn command(&self, start: usize, depth: usize) -> Option<usize> {
        if depth > DEPTH_MAX {
            return None;
        }
        let mut index = start;
        let mut pending: Vec<HereDelimiter> = Vec::new();
        loop {
            index = match (self.step(index, start, &mut pending)?, self.at(index)?) {
                (Some(end), _) => end,
                (None, b')') => return pending.is_empty().then_some(index + 1),
                (None, b'(') => self.command(index + 1, depth + 1)?,
                // The patterns of `case` have parentheses of their own.
                (None, b'c') if self.is_word_start(index, start) && self.is_case(index) => return None,
                (None, _) => self.part(index, depth, &pending)?,
            };
        }
    }

    /// Skips a comment, the end of a line or the start of a here-document. The inner value is none for anything else.
    fn step(&self, index: usize, start: usize, pending: &mut Vec<HereDelimiter>) -> Option<Option<usize>> {
        Some(Some(match self.at(index)? {
            b'#' if self.is_word_start(index, start) => self.line_end(index),
            b'\n' => self.here_documents(index + 1, std::mem::take(pending))?,
            b'<' if self.starts(index, b"<<<") => index + 3,
            b'<' if self.starts(index, b"<<") => {
                let (end, delimiter) = self.here_delimiter(index + 2)?;
                pending.push(delimiter);
                end
            }
            _ => return Some(None),
        }))
    }

    /// Skips an unquoted element. A here-document that begins within a quote or a substitution is not clear.
    fn part(&self, index: usize, depth: usize, pending: &[HereDelimiter]) -> Option<usize> {
        let end = self.element(index, false, depth)?;
        let is_clear = pending.is_empty() || !self.bytes[index..end].contains(&b'\n');
        is_clear.then_some(end)
    }

    fn is_case(&self, index: usize) -> bool {
        self.starts(index, b"case") && matches!(self.at(index + 4), Some(b' ' | b'\t' | b'\n'))
    }

    /// Skips a quote, an expansion, an escape or one byte.
    fn element(&self, index: usize, is_quoted: bool, depth: usize) -> Option<usize> {
        match self.at(index)? {
            b'\\' => self.at(index + 1).map(|_| index + 2),
            b'\'' if is_quoted => Some(index + 1),
            b'\'' => self.single(index),
            b'"' if is_quoted => None,
            b'"' => self.double(index + 1, depth + 1),
            b'`' => self.backquoted(index + 1),
            b'$' => self.expansion(index, is_quoted, depth + 1),
            _ => Some(index + 1),
        }
    }

    fn single(&self, index: usize) -> Option<usize> {
        // The parser takes `\$'` and `$$'` for the start of `$'…'`, which has escapes, and the shell does not.
        if index > 0 && self.bytes[index - 1] == b'$' {
            return None;
        }
        self.bytes[index + 1..].iter().position(|byte| *byte == b'\'').map(|length| index + length + 2)
    }

    fn double(&self, start: usize, depth: usize) -> Option<usize> {
        if depth > DEPTH_MAX {
            return None;
        }
        let mut index = start;
        while self.at(index)? != b'"' {
            index = self.element(index, true, depth)?;
        }
        Some(index + 1)
    }

    fn backquoted(&self, start: usize) -> Option<usize> {
        // Bash removes some backslashes within backquotes before it reads the command, so the end of one is not clear.
        let length = self.bytes.get(start..)?.iter().position(|byte| matches!(byte, b'`' | b'\\'))?;
        (self.bytes[start + length] == b'`').then_some(start + length + 1)
    }

    fn expansion(&self, index: usize, is_quoted: bool, depth: usize) -> Option<usize> {
        if depth > DEPTH_MAX {
            return None;
        }
        if self.starts(index, b"$((") {
            return self.arithmetic(index + 3, depth);
        }
        match self.at(index + 1) {
            Some(b'(') => self.command(index + 2, depth),
            Some(b'{') => self.parameter(index + 2, is_quoted, depth),
            Some(b'\'') if !is_quoted => self.ansi(index + 2),
            Some(b'$') => Some(index + 2),
            // `$[…]` is an old form of arithmetic.
            Some(b'[') => None,
            _ => Some(index + 1),
        }
    }

    fn ansi(&self, start: usize) -> Option<usize> {
        let mut index = start;
        loop {
            index = match self.at(index)? {
                b'\'' => return Some(index + 1),
                b'\\' => index + 2,
                _ => index + 1,
            };
        }
    }

    fn arithmetic(&self, start: usize, depth: usize) -> Option<usize> {
        let (mut index, mut open) = (start, 0_usize);
        loop {
            index = match self.at(index)? {
                b')' if open == 0 => return self.starts(index, b"))").then_some(index + 2),
                b')' => {
                    open -= 1;
                    index + 1
                }
                b'(' => {
                    open += 1;
                    index + 1
                }
                b'\'' => return None,
                _ => self.element(index, false, depth)?,
            };
        }
    }

    fn parameter(&self, start: usize, is_quoted: bool, depth: usize) -> Option<usize> {
        let mut index = start;
        loop {
            index = match self.at(index)? {
                b'}' => return Some(index + 1),
                // What a quote means here depends on the operator.
                b'\'' | b'"' if is_quoted => return None,
                _ => self.element(index, is_quoted, depth)?,
            };
        }
    }

    /// Returns the index of the line feed that ends a line.
    fn line_end(&self, index: usize) -> usize {
        let length = self.bytes[index..].iter().position(|byte| *byte == b'\n');
        length.map_or(self.bytes.len(), |length| index + length)
    }

    fn here_delimiter(&self, start: usize) -> Option<(usize, HereDelimiter)> {
        let removes_tabs = self.at(start) == Some(b'-');
        let mut index = if removes_tabs { start + 1 } else { start };
        while matches!(self.at(index)?, b' ' | b'\t') {
            index += 1;
        }
        let (mut word, mut is_quoted) = (Vec::new(), false);
        loop {
            match self.at(index).unwrap_or(b'\n') {
                quote @ (b'\'' | b'"') => {
                    let length = self.bytes[index + 1..].iter().position(|byte| *byte == quote)?;
                    word.extend_from_slice(&self.bytes[index + 1..index + 1 + length]);
                    (index, is_quoted) = (index + length + 2, true);
                }
                b'\\' => {
                    word.push(self.at(index + 1).filter(|byte| *byte != b'\n')?);
                    (index, is_quoted) = (index + 2, true);
                }
                b'$' | b'`' => return None,
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                byte => {
                    word.push(byte);
                    index += 1;
                }
            }
        }
        (!word.is_empty()).then_some((index, HereDelimiter { word, removes_tabs, is_quoted }))
    }

    /// Skips the lines of here-documents, and the lines that end them.
    fn here_documents(&self, start: usize, delimiters: Vec<HereDelimiter>) -> Option<usize> {
        let mut index = start;
        for delimiter in delimiters {
            let mut is_joined = false;
            loop {
                self.at(index)?;
                let end = self.line_end(index);
                let mut line = &self.bytes[index..end];
                while delimiter.removes_tabs && line.first() == Some(&b'\t') {
                    line = &line[1..];
                }
                index = (end + 1).min(self.bytes.len());
                if line == delimiter.word {
                    // The shell joins this line and the one before, so that it is no delimiter.
                    if is_joined {
                        return None;
                    }
                    break;
                }
                is_joined = !delimiter.is_quoted && line.last() == Some(&b'\\');
            }
        }
        Some(index)
    }
}
