//! The unified diff between two texts of a policy.

use crate::style::{Style, TextStyle};
use portcullis::text::OneLine;
use similar::TextDiff;
use std::fmt::Write;

/// Unchanged lines around a change, as in other diff tools.
const CONTEXT_LINES: usize = 3;

/// Returns the diff, with every line encoded.
pub(super) fn unified(path: &str, old: &str, new: &str, style: Style) -> String {
    let difference = TextDiff::from_lines(old, new);
    let mut unified = difference.unified_diff();
    unified.context_radius(CONTEXT_LINES).missing_newline_hint(false).header(path, path);
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
    fn a_control_character_of_the_policy_is_escaped() {
        let text = unified("policy.toml", "a = 1\n", "a = 1\n# \u{1b}[2J\n", Style::Plain);
        assert!(text.contains("+# \\u{1b}[2J") && !text.contains('\u{1b}'), "{text}");
    }
}
