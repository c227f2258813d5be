//! The unified diff between two texts of a file.

use crate::style::{Style, TextStyle};
use portcullis::text::OneLine;
use similar::TextDiff;
use std::fmt::Write;

/// Unchanged lines around a change, as in other diff tools.
const CONTEXT_LINES: usize = 3;

/// Returns the diff of a file, with every line encoded. `old` is `None` for a file that does not exist yet. Returns an
/// empty text if the texts are the same.
pub(crate) fn unified(path: &str, old: Option<&str>, new: &str, style: Style) -> String {
    let difference = TextDiff::from_lines(old.unwrap_or_default(), new);
    let mut unified = difference.unified_diff();
    unified.context_radius(CONTEXT_LINES).missing_newline_hint(false);
    unified.header(if old.is_some() { path } else { "/dev/null" }, path);
    let mut text = String::new();
    for line in unified.to_string().lines() {
        let look = match line.as_bytes() {
            [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => TextStyle::Strong,
            [b'@', ..] => TextStyle::Quiet,
            [b'-', ..] => TextStyle::Bad,
            [b'+', ..] => TextStyle::Good,
            _unchanged => TextStyle::Plain,
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", style.paint(look, OneLine(line)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_has_no_old_name_and_the_same_text_no_difference() {
        let new = unified("f", None, "a\nb\n", Style::Plain);
        assert_eq!(new, "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(unified("f", Some("a\n"), "a\n", Style::Plain), "");
    }

    #[test]
    fn a_control_character_of_a_file_is_escaped() {
        let text = unified("policy.toml", Some("a = 1\n"), "a = 1\n# \u{1b}[2J\n", Style::Plain);
        assert!(text.contains("+# \\u{1b}[2J") && !text.contains('\u{1b}'), "{text}");
    }
}
