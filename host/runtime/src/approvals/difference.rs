//! Computes the unified diff between the text of a file and the text that a call would write to it.
//!
//! Only the host writes lines that begin with `@@`. Every other line begins with a space, `-`, `+` or a path marker.

use similar::{ChangeTag, DiffOp, TextDiff};
use std::borrow::Cow;
use std::fmt::Write;
use std::time::Instant;

/// Maximum length of a difference, in bytes. An approver would not read a longer one. A longer one is not shown at all,
/// because a part of it looks like the whole.
pub(super) const DIFFERENCE_BYTES_MAX: usize = 1024 * 1024;

/// Unchanged lines around a change, as in other diff tools.
const CONTEXT_LINES: usize = 3;

/// Returns a line of the host.
pub(super) fn note(text: &str) -> String {
    format!("@@ {text} @@\n")
}

/// Returns the hunks between two texts, or none if they are too long to show. After `deadline`, the texts that were not
/// compared yet count as changed.
pub(super) fn unified(old: &str, new: &str, deadline: Instant) -> Option<String> {
    if old == new {
        return Some(note("nothing changes"));
    }
    let (mut shown, old, new) = with_line_ends(old, new);
    let (old, new): (Vec<_>, Vec<_>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let difference = TextDiff::configure().deadline(deadline).diff_slices(&old, &new);
    for hunk in difference.grouped_ops(CONTEXT_LINES) {
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "{}", hunk_header(&hunk));
        for change in hunk.iter().flat_map(|operation| difference.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let value = change.value();
            let end = if value.ends_with('\n') { "" } else { "\n@@ no newline at end of file @@\n" };
            let _ = write!(shown, "{sign}{value}{end}");
        }
        if shown.len() > DIFFERENCE_BYTES_MAX {
            return None;
        }
    }
    Some(shown)
}

/// Replaces CR LF by LF if every line ends in CR LF before and after, and says so in the first returned text. Otherwise
/// each line end stays part of its line.
fn with_line_ends<'a>(old: &'a str, new: &'a str) -> (String, Cow<'a, str>, Cow<'a, str>) {
    let ends_in_crlf = |text: &str| text.contains('\n') && text.matches('\n').count() == text.matches("\r\n").count();
    if ends_in_crlf(new) && (old.is_empty() || ends_in_crlf(old)) {
        let to_lf = |text: &str| Cow::Owned(text.replace("\r\n", "\n"));
        return (note("every line ends in CR LF"), to_lf(old), to_lf(new));
    }
    (String::new(), Cow::Borrowed(old), Cow::Borrowed(new))
}

fn hunk_header(hunk: &[DiffOp]) -> String {
    let range = |start: usize, end: usize| match end - start {
        // An empty range names the line before it.
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        length => format!("{},{length}", start + 1),
    };
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return String::new() };
    let old = range(first.old_range().start, last.old_range().end);
    let new = range(first.new_range().start, last.new_range().end);
    format!("@@ -{old} +{new} @@")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(old: &str, new: &str) -> Option<String> {
        unified(old, new, Instant::now() + Duration::from_secs(60))
    }

    #[test]
    fn a_hunk_shows_a_change_with_its_context() {
        let lines: String = (1..=600).map(|line| format!("line {line}\n")).collect();
        let at_500 = "@@ -497,7 +497,7 @@\n line 497\n line 498\n line 499\n-line 500\n+five\n line 501\n line 502\n \
                      line 503\n";
        assert_eq!(of(&lines, &lines.replace("line 500\n", "five\n")).unwrap(), at_500);
        assert_eq!(of("", "x\ny\n").unwrap(), "@@ -0,0 +1,2 @@\n+x\n+y\n");
        assert_eq!(of("x\n", "").unwrap(), "@@ -1 +0,0 @@\n-x\n");
        assert_eq!(of("x\n", "x\n").unwrap(), "@@ nothing changes @@\n");
        let no_end = "@@ -1 +1 @@\n-x\n+y\n@@ no newline at end of file @@\n";
        assert_eq!(of("x\n", "y").unwrap(), no_end);
    }

    #[test]
    fn line_ends_are_shown_where_they_change() {
        assert_eq!(
            of("1\r\n2\r\n", "1\r\n3\r\n").unwrap(),
            "@@ every line ends in CR LF @@\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"
        );
        assert_eq!(of("1\n", "1\r\n").unwrap(), "@@ -1 +1 @@\n-1\n+1\r\n");
        assert_eq!(of("1\r\n", "1\n").unwrap(), "@@ -1 +1 @@\n-1\r\n+1\n");
        assert_eq!(of("1\r\n2\n", "1\r\n3\n").unwrap(), "@@ -1,2 +1,2 @@\n 1\r\n-2\n+3\n");
    }

    #[test]
    fn a_difference_that_is_too_long_is_not_shown_in_part() {
        assert_eq!(of("", &"x\n".repeat(DIFFERENCE_BYTES_MAX / 2)), None);
    }
}
