//! The difference of two texts, in the format of `diff -u`.
//!
//! Calls one algorithm of `similar` directly: its convenience API links all six, which would be a quarter of this
//! plugin.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::algorithms::{Capture, Replace, myers};
use similar::{DiffOp, group_diff_ops};

/// How long to search for a minimal difference. After that, any correct difference will do.
const SEARCH_TIME_MAX: Duration = Duration::from_millis(500);

/// Maximum size of a shown difference. A model checks that the edit is right; it does not need all of a large one.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of lines to compare. Each takes about a hundred bytes, and a call has 64 MiB by default.
const LINES_COMPARED_MAX: usize = 200_000;

/// Number of unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// The difference of two texts.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) text: String,
    pub(super) lines_added: usize,
    pub(super) lines_removed: usize,
}

impl Difference {
    pub(super) fn of(path: &str, old: &str, new: &str) -> Self {
        if [old, new].iter().any(|text| text.matches('\n').count() > LINES_COMPARED_MAX) {
            return Self { text: format!("(`{path}` has too many lines to show the difference)\n"), ..Self::default() };
        }
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let mut hook = Replace::new(Capture::new());
        let deadline = Instant::now().checked_add(SEARCH_TIME_MAX);
        // Capturing cannot fail.
        let _ = myers::diff_deadline(&mut hook, &old[..], 0..old.len(), &new[..], 0..new.len(), deadline);

        let mut difference = Self { text: format!("--- {path}\n+++ {path}\n"), ..Self::default() };
        for hunk in group_diff_ops(hook.into_inner().into_ops(), CONTEXT_LINES) {
            difference.hunk(&hunk, &old, &new);
        }
        if difference.text.len() > TEXT_BYTES_MAX {
            difference.text.truncate(difference.text.floor_char_boundary(TEXT_BYTES_MAX));
            difference.text.push_str("\n(the rest of the difference is not shown; all changes were written)\n");
        }
        difference
    }

    fn hunk(&mut self, hunk: &[DiffOp], old: &[&str], new: &[&str]) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
        let old_range = range(first.old_range().start, last.old_range().end);
        let new_range = range(first.new_range().start, last.new_range().end);
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "@@ -{old_range} +{new_range} @@");
        for operation in hunk {
            if let DiffOp::Equal { old_index, len, .. } = *operation {
                self.lines(' ', &old[old_index..old_index + len]);
                continue;
            }
            let (removed, added) = (&old[operation.old_range()], &new[operation.new_range()]);
            self.lines('-', removed);
            self.lines('+', added);
            self.lines_removed += removed.len();
            self.lines_added += added.len();
        }
    }

    fn lines(&mut self, mark: char, lines: &[&str]) {
        for line in lines {
            let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            let _ = write!(self.text, "{mark}{line}{end}");
        }
    }
}

/// Formats the range of a hunk. Line numbers count from 1, but an empty range names the line before it.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        length => format!("{},{length}", start + 1),
    }
}
