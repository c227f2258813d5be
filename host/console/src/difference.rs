//! Reads the host's difference into rows with line numbers, and finds whether it shows the effect of the call.

use portcullis::text::{OneLine, count_blanks};

/// Notes of the host that say what is shown. Every other note says what is missing, so the arguments are shown too.
const COMPLETE_NOTES: [&str; 5] =
    ["a new file", "the file is removed", "no newline at end of file", "every line ends in CR LF", "nothing changes"];

/// The path of a file that does not exist before or after the call.
const NO_FILE: &str = "/dev/null";

/// A row of a difference, with its text encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DifferenceRow {
    /// A note of the host.
    Note(String),
    /// The paths of a file before and after.
    File(String),
    /// The place of the rows that follow.
    Hunk(String),
    /// An unchanged line, with its number after the call.
    Same(usize, String),
    /// A line that the call removes, with its number before the call.
    Removed(usize, String),
    /// A line that the call adds, with its number after the call.
    Added(usize, String),
}

/// A difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) rows: Vec<DifferenceRow>,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// Whether every change of every file is shown.
    pub(crate) is_complete: bool,
}

/// The lines that remain of a hunk, and their numbers.
#[derive(Default)]
struct Hunk {
    old_left: usize,
    new_left: usize,
    old: usize,
    new: usize,
}

impl Difference {
    /// Parses the host's text. Lines inside a hunk are counted, so that no text of a file looks like a heading.
    pub(crate) fn parse(text: &str) -> Self {
        let (mut difference, mut hunk) = (Self { is_complete: true, ..Self::default() }, Hunk::default());
        let mut files = 0;
        for line in text.split_terminator('\n') {
            let row = match line.as_bytes().first() {
                // The host puts a mark before each line of a file, so a line with `@` is the host's own even within a
                // hunk.
                Some(b'@') => difference.host_line(line, &mut hunk),
                Some(_) | None if hunk.old_left + hunk.new_left > 0 => difference.line(line, &mut hunk),
                Some(b'+') => {
                    files += 1;
                    difference.file(line.trim_start_matches("+++ "))
                }
                Some(_) | None => DifferenceRow::File(encoded(line.trim_start_matches("--- "))),
            };
            difference.rows.push(row);
        }
        // A text that names no file shows no effect at all.
        difference.is_complete &= files > 0;
        difference
    }

    /// Returns the row of a file after the call. It replaces the row of the same file before the call.
    fn file(&mut self, after: &str) -> DifferenceRow {
        let before = match self.rows.last() {
            Some(DifferenceRow::File(before)) => before.clone(),
            Some(_) | None => return DifferenceRow::File(encoded(after)),
        };
        let path = |side: &str, prefix: &str| side.strip_prefix(prefix).map(str::to_owned);
        let shown = match (path(&before, "a/"), path(after, "b/").map(|path| encoded(&path))) {
            (Some(old), Some(new)) if old == new => new,
            (None, Some(new)) if before == NO_FILE => new,
            (Some(old), None) if after == NO_FILE => old,
            _ => return DifferenceRow::File(encoded(after)),
        };
        self.rows.pop();
        DifferenceRow::File(shown)
    }

    fn host_line(&mut self, line: &str, hunk: &mut Hunk) -> DifferenceRow {
        let inner = line.trim_start_matches("@@ ").trim_end_matches(" @@");
        if let Some(found) = Hunk::parse(inner) {
            *hunk = found;
            return DifferenceRow::Hunk(encoded(line));
        }
        let is_heading = inner.contains(" computes that this call would change ") || inner.starts_with("file ");
        self.is_complete &= is_heading || COMPLETE_NOTES.contains(&inner);
        DifferenceRow::Note(encoded(inner))
    }

    fn line(&mut self, line: &str, hunk: &mut Hunk) -> DifferenceRow {
        let text = encoded(line.get(1..).unwrap_or_default());
        match line.as_bytes().first() {
            Some(b'+') => {
                self.added += 1;
                DifferenceRow::Added(hunk.take_new(), text)
            }
            Some(b'-') => {
                self.removed += 1;
                DifferenceRow::Removed(hunk.take_old(), text)
            }
            Some(_) | None => {
                hunk.take_old();
                DifferenceRow::Same(hunk.take_new(), text)
            }
        }
    }
}

impl Hunk {
    /// Parses `-1,2 +1,3`.
    fn parse(inner: &str) -> Option<Self> {
        let (old, new) = inner.strip_prefix('-')?.split_once(" +")?;
        let range = |text: &str| {
            let (start, length) = text.split_once(',').unwrap_or((text, "1"));
            Some((start.parse::<usize>().ok()?, length.parse::<usize>().ok()?))
        };
        let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
        Some(Self { old_left, new_left, old, new })
    }

    fn take_old(&mut self) -> usize {
        self.old_left = self.old_left.saturating_sub(1);
        self.old += 1;
        self.old - 1
    }

    fn take_new(&mut self) -> usize {
        self.new_left = self.new_left.saturating_sub(1);
        self.new += 1;
        self.new - 1
    }
}

fn encoded(text: &str) -> String {
    OneLine(&count_blanks(text)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_numbers_of_their_lines() {
        let text = "@@ files computes that this call would change 1 file @@\n--- a/x\n+++ b/x\n@@ -39,3 +39,3 @@\n a\n\
                    --- a/y\n+++ b/y\n b\n";
        let difference = Difference::parse(text);
        assert_eq!((difference.added, difference.removed, difference.is_complete), (1, 1, true));
        assert_eq!(difference.rows[1], DifferenceRow::File("x".to_owned()));
        assert_eq!(
            difference.rows[3..],
            [
                DifferenceRow::Same(39, "a".to_owned()),
                DifferenceRow::Removed(40, "-- a/y".to_owned()),
                DifferenceRow::Added(40, "++ b/y".to_owned()),
                DifferenceRow::Same(41, "b".to_owned()),
            ]
        );
    }

    #[test]
    fn a_difference_without_its_change_is_not_complete() {
        let head = "@@ files computes that this call would change 1 file @@\n--- a/x\n+++ b/x\n";
        for note in [
            "the change in this file is too long to show",
            "the file has changed since the call was made, and no longer exists: the change to it is unknown",
            "the change in it cannot be computed: the file is not text",
            "a note of a later version",
        ] {
            assert!(!Difference::parse(&format!("{head}@@ {note} @@\n")).is_complete, "{note}");
        }
        assert!(Difference::parse(&format!("{head}@@ a new file @@\n@@ -0,0 +1 @@\n+x\n")).is_complete);
        assert!(!Difference::parse("@@ web does not compute what this call would change @@\n").is_complete);
        assert!(!Difference::parse("").is_complete);
    }

    #[test]
    fn every_text_of_a_file_is_encoded() {
        let text = "@@ -1 +1 @@\n-\u{1b}[2J\n+\u{202e}\n";
        let difference = Difference::parse(text);
        assert_eq!(difference.rows[1], DifferenceRow::Removed(1, "\\u{1b}[2J".to_owned()));
        assert_eq!(difference.rows[2], DifferenceRow::Added(1, "\\u{202e}".to_owned()));
    }
}
