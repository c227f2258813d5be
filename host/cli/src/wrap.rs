//! Breaks lines for people at the width of their terminal.
//!
//! This module does no I/O and knows nothing of tables or commands. Its input is already encoded; the only escape
//! sequences in it are colours ([`crate::style`]), which take no room.

/// Maximum length of a command in backticks that is never broken, in columns. A command that is broken at the edge
/// cannot be copied; a longer text between backticks is none of the host's.
const COMMAND_COLUMNS_MAX: usize = 400;

/// Maximum width of the help, in columns. Longer lines are hard to read.
pub(crate) const HELP_COLUMNS_MAX: usize = 100;

/// The spaces that begin the second column of a line, such as that of an option and its description.
const COLUMN_GAP: &str = "  ";

/// Breaks each line at spaces, so that none is wider than the terminal. Continued lines begin below the text of their
/// line: below its second column if it has one. Without a width, returns the text as it is.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut wrapped = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if columns(line) <= width {
            wrapped.push_str(line);
        } else {
            let indent = hanging(line, width);
            wrapped.push_str(&broken(line, width, indent).join("\n"));
        }
        wrapped.push_str(end);
    }
    wrapped
}

/// Breaks a text into rows of at most `width` columns, without indentation.
pub(crate) fn folded(text: &str, width: usize) -> Vec<String> {
    broken(text, width.max(1), 0)
}

/// Returns the columns that a text takes. Colours take none, and a character that may be wide takes two.
pub(crate) fn columns(text: &str) -> usize {
    glyphs(text).map(|(_, columns)| columns).sum()
}

/// Cuts a text to a number of columns. A cut text ends with `…`.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), 0);
    for (glyph, columns) in glyphs(text) {
        if used + columns >= width {
            break;
        }
        kept.push_str(glyph);
        used += columns;
    }
    kept.push('…');
    kept
}

/// Splits a text into characters and colours, each with the columns that it takes.
fn glyphs(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let character = rest.chars().next()?;
        let colour = rest.starts_with("\u{1b}[").then(|| rest.find('m')).flatten();
        let length = colour.map_or(character.len_utf8(), |end| end + 1);
        let columns = if colour.is_some() { 0 } else { width_of(character) };
        let glyph = &rest[..length];
        rest = &rest[length..];
        Some((glyph, columns))
    })
}

/// Returns the columns of a character. If in doubt it is wide, so that no line passes the edge.
fn width_of(character: char) -> usize {
    match character {
        // A tab takes at most this many.
        '\t' => 8,
        // The scripts of Europe and the Near East, punctuation, arrows and lines of boxes.
        '\0'..='\u{10ff}' | '\u{2010}'..='\u{205e}' | '\u{2190}'..='\u{21ff}' | '\u{2500}'..='\u{257f}' => 1,
        _ => 2,
    }
}

/// Returns the column in which a line is continued: below the text of its second column, of its list item, or of its
/// beginning. A column in the right half leaves too little room.
fn hanging(line: &str, width: usize) -> usize {
    let visible: String = glyphs(line).filter(|(_, columns)| *columns > 0).map(|(glyph, _)| glyph).collect();
    let start = visible.len() - visible.trim_start_matches(' ').len();
    let text = &visible[start..];
    let item = ["- ", "• "].iter().find(|mark| text.starts_with(**mark)).map_or(0, |mark| columns(mark));
    let second = text.find(COLUMN_GAP).map(|gap| gap + (text[gap..].len() - text[gap..].trim_start_matches(' ').len()));
    let second = second.map(|at| start + columns(&text[..at])).filter(|column| *column <= width / 2);
    second.unwrap_or(start + item).min(width / 2)
}

/// Breaks a line into rows. All but the first begin with `indent` spaces.
fn broken(line: &str, width: usize, indent: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let (mut used, mut begun) = (0, false);
    for Word { blanks, text } in words(line) {
        let room = columns(text);
        // The first word stays where the line begins, so that no row is empty.
        if begun && used + blanks + room > width {
            rows.push(" ".repeat(indent));
            used = indent;
        } else {
            push(&mut rows, &" ".repeat(blanks));
            used += blanks;
        }
        begun = true;
        if used + room <= width || is_command(text) {
            push(&mut rows, text);
            used += room;
            continue;
        }
        for (glyph, columns) in glyphs(text) {
            if used + columns > width && used > indent {
                rows.push(" ".repeat(indent));
                used = indent;
            }
            push(&mut rows, glyph);
            used += columns;
        }
    }
    rows
}

fn push(rows: &mut [String], text: &str) {
    if let Some(row) = rows.last_mut() {
        row.push_str(text);
    }
}

/// A word of a line, with the spaces before it.
struct Word<'a> {
    blanks: usize,
    text: &'a str,
}

/// Splits a line into words. A command in backticks is a part of one word.
fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let text = rest.trim_start_matches(' ');
        let blanks = rest.len() - text.len();
        if text.is_empty() {
            return None;
        }
        let mut end = 0;
        while let Some(character) = text[end..].chars().next().filter(|character| *character != ' ') {
            end += match character {
                '`' => command_length(&text[end..]).unwrap_or(1),
                _ => character.len_utf8(),
            };
        }
        rest = &text[end..];
        Some(Word { blanks, text: &text[..end] })
    })
}

/// Returns the length of the command in backticks at the beginning of a text.
fn command_length(text: &str) -> Option<usize> {
    let length = text[1..].find('`')? + 2;
    (length <= COMMAND_COLUMNS_MAX).then_some(length)
}

/// Returns whether a word has a command in backticks.
fn is_command(word: &str) -> bool {
    word.find('`').is_some_and(|start| command_length(&word[start..]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let text =
            "a word and another, \u{1b}[31mred words\u{1b}[0m and aVeryLongWordThatFitsNowhere, 日本語日本語日本語\n";
        for width in 4..60 {
            for line in wrapped(text, Some(width)).lines() {
                assert!(columns(line) <= width, "{width}: {line:?}");
            }
        }
        assert_eq!(wrapped(text, None), text);
    }

    #[test]
    fn a_line_continues_below_its_text() {
        let option = "  --json    Print one document per result\n";
        assert_eq!(wrapped(option, Some(26)), "  --json    Print one\n            document per\n            result\n");
        let item = "- one two three\n";
        assert_eq!(wrapped(item, Some(10)), "- one two\n  three\n");
        assert_eq!(wrapped("    one two three", Some(11)), "    one two\n    three");
    }

    #[test]
    fn a_command_can_still_be_copied() {
        let text = "to approve it, run `portcullis approvals approve c02ddb`, then wait";
        let wrapped = wrapped(text, Some(30));
        assert_eq!(wrapped, "to approve it, run\n`portcullis approvals approve c02ddb`,\nthen wait");
    }

    #[test]
    fn only_spaces_and_line_breaks_are_added() {
        let text = "one  two `three four` \u{1b}[1mfive\u{1b}[0m sixseveneightnineten\n\n  eleven twelve\n";
        let letters = |text: &str| text.replace([' ', '\n'], "");
        for width in 3..40 {
            assert_eq!(letters(&wrapped(text, Some(width))), letters(text), "{width}");
        }
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!(
            (cut("abcdef", 6), cut("abcdef", 4), cut("日本語", 4)),
            ("abcdef".into(), "abc…".into(), "日…".into())
        );
    }
}
