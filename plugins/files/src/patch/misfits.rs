//! The text about hunks that have no place: where each is in the patch, what it expects, and what the file has.

use portcullis_sdk::prelude::*;

use super::hunk::Hunk;
use super::locate::Misfit;
use crate::nearest;
use crate::place::Place;
use crate::text;

/// Maximum hunks to describe. Their number is told in any case.
const DESCRIBED_MAX: usize = 10;

/// Maximum hunks for which the nearest text is searched. Each search compares thousands of lines.
const NEAREST_MAX: usize = 3;

/// Maximum lines to show of a hunk.
const LINES_SHOWN_MAX: usize = 12;

/// Maximum characters to show of a line.
const LINE_CHARACTERS_MAX: usize = 200;

/// Hunks that have no place.
#[derive(Debug, Default)]
pub(super) struct Misfits {
    count: usize,
    searched: usize,
    texts: Vec<String>,
}

impl Misfits {
    /// Adds a hunk of a file, by its number in the section of the file.
    pub(super) fn add(&mut self, place: &Place, number: usize, hunk: &Hunk<'_>, misfit: &Misfit<'_>, file: &str) {
        self.count += 1;
        if self.texts.len() == DESCRIBED_MAX {
            return;
        }
        let why = self.describe(hunk, misfit, file);
        let mut text = format!("`{}`, hunk {number} (line {} of the patch): {why}", place.shown(), hunk.patch_line);
        let expected = hunk.old_lines();
        if !expected.is_empty() {
            text.push_str("\nThe patch expects:");
            for line in expected.iter().take(LINES_SHOWN_MAX) {
                text.push_str("\n      \t");
                text.push_str(text::cut(line, LINE_CHARACTERS_MAX).0);
            }
            if let Some(more) = expected.len().checked_sub(LINES_SHOWN_MAX).filter(|more| *more > 0) {
                text.push_str(&format!("\n(and {} more)", text::count(more, "line")));
            }
        }
        self.texts.push(text);
    }

    /// Returns the failure of the call, if a hunk was added.
    pub(super) fn failure(&self) -> Option<Failure> {
        let described = self.texts.join("\n\n");
        let more = match self.count - self.texts.len() {
            0 => String::new(),
            more => format!("\n\n({} more)", text::count(more, "hunk")),
        };
        let hunks = match self.count {
            0 => return None,
            1 => "1 hunk does not fit".to_owned(),
            count => format!("{count} hunks do not fit"),
        };
        Some(Failure::failed(format!("nothing was changed: {hunks}.\n\n{described}{more}")))
    }

    fn describe(&mut self, hunk: &Hunk<'_>, misfit: &Misfit<'_>, file: &str) -> String {
        match misfit {
            Misfit::Missing => {
                let missing = if hunk.headers.is_empty() {
                    "its old text does not occur"
                } else {
                    "its old text does not occur after its `@@` line"
                };
                self.searched += 1;
                match self.searched <= NEAREST_MAX {
                    true => nearest::describe(missing, file, &hunk.old_lines().join("\n")),
                    false => missing.to_owned(),
                }
            }
            Misfit::OutOfOrder(line) => format!(
                "its old text occurs only on line {line}, which is not after the hunk before; write the hunks in the \
                 order of the file, without common lines"
            ),
            Misfit::Ambiguous(lines, more) => format!(
                "its old text occurs several times, on lines {}; add surrounding lines until it is unique",
                listed(lines, *more)
            ),
            Misfit::NotAtEnd(line) => {
                format!("its old text occurs on line {line}, but not at the end of the file, as the patch says")
            }
            Misfit::Terminated => "the file ends with a newline, and the patch says that it does not".to_owned(),
            Misfit::NoOldLines => {
                "it has no line of the file; add an unchanged line before or after the new ones".to_owned()
            }
            Misfit::NoHeader(header) => {
                let header = text::cut(header, LINE_CHARACTERS_MAX).0;
                format!("no line after the hunk before is equal to `{header}` of its `@@` line")
            }
            Misfit::AmbiguousHeader(header, lines, more) => format!(
                "`{}` of its `@@` line occurs several times, on lines {}; add surrounding lines until the hunk is unique",
                text::cut(header, LINE_CHARACTERS_MAX).0,
                listed(lines, *more)
            ),
        }
    }
}

fn listed(lines: &[usize], more: bool) -> String {
    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
    format!("{}{}", lines.join(", "), if more { ", ..." } else { "" })
}
