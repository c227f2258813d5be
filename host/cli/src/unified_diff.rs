//! The difference between two texts that differ in one place, in the unified format.

use std::fmt::Write;

/// Lines that are shown before and after the change.
const CONTEXT_LINES: usize = 3;

/// Returns the difference between two texts under a file name. It has one hunk, from the first line that differs to the
/// last one. Returns an empty text if the texts are the same.
pub(crate) fn unified(file: &str, before: Option<&str>, after: &str) -> String {
    let (old, new) = (lines(before.unwrap_or_default()), lines(after));
    if old == new {
        return String::new();
    }
    let same_start = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - same_start;
    let same_end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let from = same_start.saturating_sub(CONTEXT_LINES);
    let tail = same_end.min(CONTEXT_LINES);
    let (old_to, new_to) = (old.len() - same_end, new.len() - same_end);
    let start = |count: usize| if count == 0 { 0 } else { from + 1 };
    let (old_count, new_count) = (old_to + tail - from, new_to + tail - from);
    let mut text = String::new();
    let head = if before.is_some() { format!("--- {file}") } else { "--- /dev/null".to_owned() };
    // Writing to a string cannot fail.
    let _ =
        write!(text, "{head}\n+++ {file}\n@@ -{},{old_count} +{},{new_count} @@\n", start(old_count), start(new_count));
    let mut put = |mark: char, lines: &[&str]| {
        for line in lines {
            let _ = writeln!(text, "{mark}{}", line.trim_end_matches(['\n', '\r']));
        }
    };
    put(' ', old.get(from..same_start).unwrap_or_default());
    put('-', old.get(same_start..old_to).unwrap_or_default());
    put('+', new.get(same_start..new_to).unwrap_or_default());
    put(' ', old.get(old_to..old_to + tail).unwrap_or_default());
    text
}

/// Returns the lines with their line ends, so that a changed line end is a difference.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_is_shown_with_the_lines_around_it() {
        assert_eq!(unified("f", Some("a\n"), "a\n"), "");
        assert_eq!(unified("f", None, "a\nb\n"), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        let (before, after) = ("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nX\nY\n6\n7\n8\n");
        let expected = "--- f\n+++ f\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+X\n+Y\n 6\n 7\n 8\n";
        assert_eq!(unified("f", Some(before), after), expected);
        assert_eq!(unified("f", Some("a\n"), "a\na\n"), "--- f\n+++ f\n@@ -1,1 +1,2 @@\n a\n+a\n");
    }
}
