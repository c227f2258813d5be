//! The difference of two texts, as people and models know it from `diff -u`.
//!
//! Only one algorithm of `similar` is named here: its convenient interface links all six of them, a quarter of this
//! plugin.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::algorithms::{Capture, Replace, myers};
use similar::{DiffOp, group_diff_ops};

/// How long a small answer may be searched for; after that it is a correct one.
const SEARCH_TIME_MAX: Duration = Duration::from_millis(500);

/// How much of the difference is shown: a model wants to see that the edit is right, not all of a large one.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// How many lines are compared. Each takes some hundred bytes meanwhile, and a call has 64 MiB by default.
const LINES_COMPARED_MAX: usize = 200_000;

/// How many unchanged lines stand around a change.
const CONTEXT_LINES: usize = 3;

/// A difference.
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
            difference.text.push_str("\n(the rest of the difference is left out; all of it was written)\n");
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

/// Line numbers count from 1, but an empty range stands behind the line of its number.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        length => format!("{},{length}", start + 1),
    }
}
