//! Rows of a screen: every text is encoded, cut to the rows it may take, and what is left out is counted.

use super::Extent;
use crate::answer::Unseen;
use crate::style::{Look, Style};
use portcullis::text::{OneLine, rows};
use std::fmt::Write;

/// Rows that any text of a model, a plugin or a policy may take, where it has no block of its own.
const FIELD_ROWS_MAX: usize = 3;

/// Rows that one line of a block may take: a long content must not hide the path that comes after it.
const BLOCK_LINE_ROWS_MAX: usize = 3;

/// Where the width is not known.
const WIDTH_DEFAULT: usize = 80;

/// The narrowest that is laid out for; what is narrower wraps as it likes.
const WIDTH_MIN: usize = 40;

/// The column in which the values of fields begin.
const FIELD_COLUMN: usize = 15;

/// The column in which the lines of a block begin. Only the host writes to the left of it.
const BLOCK_COLUMN: usize = 4;

/// What a screen holds, in rows. Where more than that is left out of what is asked about, a yes waits for `more`.
const SCREEN_ROWS: usize = 24;

/// Text that grows row by row.
pub(super) struct Sheet {
    pub(super) text: String,
    extent: Extent,
    style: Style,
    width: usize,
    /// Rows that were left out of anything.
    left_out: usize,
    /// Rows that were left out of what is asked about.
    left_out_of_subject: usize,
}

/// Whether a text is what a person says yes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It is.
    Subject,
    /// It goes with it.
    Beside,
}

impl Sheet {
    pub(super) fn new(extent: Extent, style: Style, width: Option<usize>) -> Self {
        let width = width.unwrap_or(WIDTH_DEFAULT).max(WIDTH_MIN);
        Self { text: String::new(), extent, style, width, left_out: 0, left_out_of_subject: 0 }
    }

    /// How much the reader has not seen.
    pub(super) fn unseen(&self) -> Unseen {
        if self.left_out_of_subject > SCREEN_ROWS {
            Unseen::Most
        } else if self.left_out > 0 {
            Unseen::Some
        } else {
            Unseen::Nothing
        }
    }

    /// A line of the host's own.
    pub(super) fn line(&mut self, look: Look, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{}", self.style.paint(look, text));
    }

    /// A value behind its label, on as many rows as it may take.
    pub(super) fn field(&mut self, label: &str, value: &str, look: Look, weight: Weight) {
        let value = OneLine(value).to_string();
        let rows = rows(&value, self.width.saturating_sub(FIELD_COLUMN));
        let kept = self.kept(rows.len(), FIELD_ROWS_MAX);
        for (index, row) in rows[..kept].iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let row = self.style.paint(look, row);
            let _ = writeln!(self.text, "  {label:<width$}{row}", width = FIELD_COLUMN - 2);
        }
        self.leave_out(&rows[kept..], FIELD_COLUMN, weight);
    }

    /// Several values under one label, no more than `most` on a screen.
    pub(super) fn fields(&mut self, label: &str, values: &[String], most: usize, noun: &str) {
        if values.is_empty() {
            self.field(label, "none", Look::Plain, Weight::Beside);
        }
        let kept = self.kept(values.len(), most);
        for (index, value) in values[..kept].iter().enumerate() {
            self.field(if index == 0 { label } else { "" }, value, Look::Plain, Weight::Beside);
        }
        if values.len() > kept {
            self.left_out += values.len() - kept;
            let left = format!("… {} more {noun}; type `more` to see all", values.len() - kept);
            self.line(Look::Doubtful, &format!("{:FIELD_COLUMN$}{left}", ""));
        }
    }

    /// Encoded lines, each with its look, no more than `most` rows on a screen.
    pub(super) fn block<'a>(&mut self, lines: impl Iterator<Item = (Look, &'a str)>, most: usize, weight: Weight) {
        let width = self.width.saturating_sub(BLOCK_COLUMN);
        let (mut shown, mut left) = (0, Vec::new());
        for (look, line) in lines {
            let rows = rows(line, width);
            let room = self.kept(rows.len(), BLOCK_LINE_ROWS_MAX);
            let kept = room.min(self.kept(shown + rows.len(), most).saturating_sub(shown));
            for row in &rows[..kept] {
                let _ = writeln!(self.text, "{:BLOCK_COLUMN$}{}", "", self.style.paint(look, row));
            }
            shown += kept;
            if kept == room && kept < rows.len() && left.is_empty() {
                // The cut is within a line of which something stands here.
                shown += 1;
                self.leave_out(&rows[kept..], BLOCK_COLUMN, weight);
            } else {
                left.extend_from_slice(&rows[kept..]);
            }
        }
        self.leave_out(&left, BLOCK_COLUMN, weight);
    }

    /// A numbered line, cut to its rows.
    pub(super) fn numbered(&mut self, number: usize, text: &str) {
        let text = OneLine(text).to_string();
        let label = format!("{:BLOCK_COLUMN$}{number}  ", "");
        let rows = rows(&text, self.width.saturating_sub(label.len()));
        let kept = self.kept(rows.len(), 1);
        let _ = writeln!(self.text, "{label}{}", rows[..kept].concat());
        self.leave_out(&rows[kept..], label.len(), Weight::Beside);
    }

    /// Several numbered lines, no more than `most` on a screen.
    pub(super) fn numbered_list<'a>(
        &mut self,
        lines: impl ExactSizeIterator<Item = (usize, &'a str)>,
        most: usize,
        noun: &str,
    ) {
        let (count, kept) = (lines.len(), self.kept(lines.len(), most));
        for (number, text) in lines.take(kept) {
            self.numbered(number, text);
        }
        if count > kept {
            self.left_out += count - kept;
            let left = format!("… {} more {noun}; type `more` to see all", count - kept);
            self.line(Look::Doubtful, &format!("{:BLOCK_COLUMN$}{left}", ""));
        }
    }

    /// How many of so many rows are shown.
    fn kept(&self, rows: usize, most: usize) -> usize {
        match self.extent {
            Extent::Screen => rows.min(most),
            Extent::Whole => rows,
        }
    }

    /// Counts rows that are not shown, and says so.
    fn leave_out(&mut self, rows: &[&str], column: usize, weight: Weight) {
        if rows.is_empty() {
            return;
        }
        self.left_out += rows.len();
        if weight == Weight::Subject {
            self.left_out_of_subject += rows.len();
        }
        let bytes: usize = rows.iter().map(|row| row.len()).sum();
        self.line(Look::Doubtful, &format!("{:column$}… {bytes} more bytes; type `more` to see all", ""));
    }
}
