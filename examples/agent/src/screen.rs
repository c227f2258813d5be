//! The output for people. The only file that writes to the streams: the result to standard output, everything else to
//! standard error.
//!
//! Text from a model, a tool or a server is untrusted. It is escaped, and indented on rows that no terminal wraps, so
//! that it cannot look like a line of this program.

use portcullis::text::{Lines, count_blanks, rows};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

/// The indentation of untrusted text.
const MARGIN: &str = "    ";

/// Columns of untrusted text per row. With the margin they fit the narrowest common terminal.
const COLUMNS: usize = 72;

/// Writes one of this program's own lines.
pub(crate) fn note(text: impl Display) {
    say(&format!("{text}\n"));
}

/// Writes this program's own text. Ignores errors, because there is no other place to report them.
pub(crate) fn say(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Writes untrusted text.
pub(crate) fn quote(text: &str) {
    say(&quoted(text));
}

/// Writes the result. Ignores errors: a closed pipe is not a failure.
pub(crate) fn result(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{}", Lines(text)).and_then(|()| stdout.flush());
}

/// Formats untrusted text as indented rows.
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
    fn untrusted_text_is_always_indented() {
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
