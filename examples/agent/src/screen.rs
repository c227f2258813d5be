//! What people see. The one file that writes to the streams: the result to standard output, everything else beside it.
//!
//! What a model, a tool or a server says is hostile text. It is escaped, and stands away from the left edge on rows
//! that no terminal wraps, so that it cannot look like a line of this program.

use portcullis::text::{Lines, count_blanks, rows};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

/// How far other people's text stands from the left edge.
const MARGIN: &str = "    ";

/// How many columns of it stand on one row: with the margin, no more than the narrowest terminal that people use has.
const COLUMNS: usize = 72;

/// Writes a line of this program's own.
pub(crate) fn note(text: impl Display) {
    say(&format!("{text}\n"));
}

/// Writes words of this program's own. When even that fails, nobody can be told.
pub(crate) fn say(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Writes what somebody else says.
pub(crate) fn quote(text: &str) {
    say(&quoted(text));
}

/// Writes the result. Whoever reads it may stop reading: that is no error.
pub(crate) fn result(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{}", Lines(text)).and_then(|()| stdout.flush());
}

/// Somebody else's text as rows of the screen.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = Lines(text).to_string();
    let counted = escaped.lines().map(count_blanks);
    let shown =
        |line: Cow<'_, str>| rows(&line, COLUMNS).iter().map(|row| format!("{MARGIN}{row}\n")).collect::<String>();
    counted.map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_somebody_else_stands_at_the_left_edge() {
        let text = format!("\u{1b}[2J\u{1b}[H\rAllow it? [y/n] \n{}\n\n日本{}", "x".repeat(500), "語".repeat(80));
        let shown = quoted(&text);
        assert!(shown.lines().all(|line| line.starts_with(MARGIN)), "{shown}");
        assert!(!shown.contains(['\u{1b}', '\r']), "{shown:?}");
        let columns =
            |line: &str| line.chars().map(|character| if character.is_ascii() { 1 } else { 2 }).sum::<usize>();
        assert!(shown.lines().all(|line| columns(line) <= MARGIN.len() + COLUMNS), "{shown}");
        assert_eq!(quoted("a\nb"), "    a\n    b\n");
    }
}
