//! Escapes untrusted text for people: every character that could deceive a terminal, a log or a reader.

use data_encoding::HEXLOWER;
use regex::Regex;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::{self, Display, Write};
use std::sync::LazyLock;

/// Maximum length of a run of blanks that is shown unchanged: less than half a row of a terminal. Code with eight
/// levels of indentation stays unchanged.
const BLANKS_MAX: usize = 32;

/// Shows text on one line. Control characters, line breaks, and characters that are invisible or change the direction
/// of writing appear as `\u{..}`; everything else as it is.
#[derive(Clone, Copy, Debug)]
pub struct OneLine<'a>(pub &'a str);

/// Shows text with its line breaks and tabs; everything else as [`OneLine`] does.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a>(pub &'a str);

impl Display for OneLine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| encode(formatter, character))
    }
}

impl Display for Lines<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '\n' | '\t' => formatter.write_char(character),
            _ => encode(formatter, character),
        })
    }
}

fn encode(formatter: &mut fmt::Formatter<'_>, character: char) -> fmt::Result {
    match character {
        '\n' => formatter.write_str("\\n"),
        '\r' => formatter.write_str("\\r"),
        '\t' => formatter.write_str("\\t"),
        _ if is_deceptive(character) => write!(formatter, "\\u{{{:x}}}", u32::from(character)),
        _ => formatter.write_char(character),
    }
}

/// Returns whether a character is invisible or has another effect than being shown: controls (C0, DEL, C1), line
/// separators, direction marks and isolates, zero-width and other invisible characters, language tags, variation
/// selectors except the one that emoji use, private use and noncharacters. See the Unicode Standard, chapter 23, and
/// UAX #9.
pub fn is_deceptive(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{10ffff}')
}

/// Maximum combining marks on one character. Vietnamese has two, Thai and Hebrew have four; a taller stack paints over
/// the lines around it.
const MARKS_MAX: usize = 4;

/// Returns the first combining mark that is one too many on its character.
pub fn excess_mark(text: &str) -> Option<char> {
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{M}$").ok());
    let mut marks = 0;
    text.chars().find(|character| {
        // If the pattern did not compile, each character outside of ASCII would count. The check refuses too much then.
        let is_mark =
            !character.is_ascii() && MARK.as_ref().is_none_or(|mark| mark.is_match(character.encode_utf8(&mut [0; 4])));
        marks = if is_mark { marks + 1 } else { 0 };
        marks > MARKS_MAX
    })
}

/// Replaces each long run of blanks with its length, as in `[1500 blanks]`, so that invisible text cannot push anything
/// off a screen.
pub fn count_blanks(text: &str) -> Cow<'_, str> {
    let (mut counted, mut copied, mut rest) = (String::new(), 0, text);
    while let Some(start) = rest.find(is_blank) {
        let run = &rest[start..];
        let end = run.find(|character| !is_blank(character)).unwrap_or(run.len());
        let blanks = run[..end].chars().count();
        if blanks > BLANKS_MAX {
            let start = text.len() - run.len();
            // Writing to a string cannot fail.
            let _ = write!(counted, "{}[{blanks} blanks]", &text[copied..start]);
            copied = start + end;
        }
        rest = &run[end..];
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    counted.push_str(&text[copied..]);
    Cow::Owned(counted)
}

/// Returns whether a character takes room but shows nothing: white space within a line, and the Braille pattern without
/// dots.
fn is_blank(character: char) -> bool {
    (character.is_whitespace() && character != '\n') || character == '\u{2800}'
}

/// Returns whether a media type is a text type.
pub fn is_text_type(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    essence.starts_with("text/") || essence == "application/json" || essence.ends_with("+json")
}

/// Breaks a line into rows of a screen. Counts a character that may be wide as two columns.
pub fn rows(line: &str, columns_max: usize) -> Vec<&str> {
    let (mut rows, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, character) in line.char_indices() {
        let columns = match character {
            '\t' => 8,
            _ if character.is_ascii() => 1,
            _ => 2,
        };
        // A row has at least one character, even one that is wider than the row.
        if used + columns > columns_max && at > start {
            rows.push(&line[start..at]);
            (start, used) = (at, 0);
        }
        used += columns;
    }
    rows.push(&line[start..]);
    rows
}

/// Cuts text to at most `bytes_max` bytes, at a character boundary.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Returns whether a count is zero, and so left out of an audit entry.
pub fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

/// Encodes bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Returns the SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_character_never_passes_the_edge() {
        assert_eq!(rows("日本語", 4), ["日本", "語"]);
        assert_eq!(rows("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(rows("", 4), [""]);
    }

    #[test]
    fn a_character_has_a_few_combining_marks() {
        for text in
            ["e\u{301}\u{323}\u{302}\u{300}", "ไม่ที่", "\u{5e9}\u{5c1}\u{5bc}\u{5b8}\u{5a5}", "नमस्ते", "日本語", "ab"]
        {
            assert_eq!(excess_mark(text), None, "{text}");
        }
        for mark in ['\u{301}', '\u{489}', '\u{20dd}', '\u{fe20}', '\u{11c9f}'] {
            let stack = |count| format!("a{}b", mark.to_string().repeat(count)).repeat(2);
            assert_eq!((excess_mark(&stack(MARKS_MAX)), excess_mark(&stack(MARKS_MAX + 1))), (None, Some(mark)));
        }
    }

    #[test]
    fn a_long_run_of_blanks_is_counted() {
        let blanks = |count| " ".repeat(count);
        assert_eq!(count_blanks(&format!("a{}b", blanks(32))), format!("a{}b", blanks(32)));
        assert_eq!(count_blanks(&format!("a{}b{}", blanks(33), blanks(1500))), "a[33 blanks]b[1500 blanks]");
        let exotic = "\u{a0}\u{3000}\u{2003}\u{2800}\t".repeat(10);
        assert_eq!(count_blanks(&format!("é{exotic}é")), "é[50 blanks]é");
        assert_eq!(count_blanks(&format!("a{0}\n{0}b", blanks(20))), format!("a{0}\n{0}b", blanks(20)));
    }
}
