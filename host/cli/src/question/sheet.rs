//! Rows of a screen. Encodes every text, cuts it to its maximum number of rows, and counts what is left out.

use crate::style::{Style, TextStyle};
use portcullis::text::{OneLine, count_blanks, rows};
use std::fmt::Write;

/// Maximum rows of a text of a model, a plugin or a policy outside a block.
const FIELD_ROWS_MAX: usize = 3;

/// Maximum rows of one line of a block, so that a long line does not hide a path after it.
const BLOCK_LINE_ROWS_MAX: usize = 3;

/// Columns of a screen of unknown width.
const WIDTH_DEFAULT: usize = 80;

/// Minimum width of the layout. A narrower terminal wraps the lines itself.
pub(super) const WIDTH_MIN: usize = 40;

/// The column in which the values of fields begin.
const FIELD_COLUMN: usize = 15;

/// The column in which the lines of a block begin. Only the host writes to the left of it.
const BLOCK_COLUMN: usize = 4;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What fits on a screen.
    Screen,
    /// Everything.
    Whole,
}

/// Whether a part of an approval request was not shown on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// All of it was shown.
    Nothing,
    /// Something was left out. An approval is accepted only after it was shown.
    Some,
}

/// Text that grows row by row.
pub(super) struct QuestionSheet {
    pub(super) text: String,
    extent: Extent,
    style: Style,
    width: usize,
    /// Whether anything was left out.
    unseen: Unseen,
}

impl QuestionSheet {
    pub(super) fn new(extent: Extent, style: Style, width: Option<usize>) -> Self {
        let width = width.unwrap_or(WIDTH_DEFAULT).max(WIDTH_MIN);
        Self { text: String::new(), extent, style, width, unseen: Unseen::Nothing }
    }

    /// Returns whether anything was left out.
    pub(super) fn unseen(&self) -> Unseen {
        self.unseen
    }

    /// Returns the columns of the screen.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Adds the first line, which is encoded and never cut. The tool is quiet behind it.
    pub(super) fn heading(&mut self, text: &str, tool: Option<&str>) {
        let whole = tool.map_or_else(|| text.to_owned(), |tool| format!("{text}  ({tool})"));
        for row in rows(&whole, self.width) {
            self.line(TextStyle::Strong, row);
        }
    }

    /// Adds a line of the host's own text.
    pub(super) fn line(&mut self, look: TextStyle, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{}", self.style.paint(look, text));
    }

    /// Adds a value after its label, cut to its maximum number of rows.
    pub(super) fn field(&mut self, label: &str, value: &str, look: TextStyle) {
        let value = OneLine(&count_blanks(value)).to_string();
        let rows = rows(&value, self.width.saturating_sub(FIELD_COLUMN));
        let kept = self.kept(rows.len(), FIELD_ROWS_MAX);
        for (index, row) in rows[..kept].iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let row = self.style.paint(look, row);
            let _ = writeln!(self.text, "  {label:<width$}{row}", width = FIELD_COLUMN - 2);
        }
        self.leave_out(&rows[kept..], FIELD_COLUMN);
    }

    /// Adds several values under one label, at most `most` on a screen.
    pub(super) fn fields(&mut self, label: &str, values: &[String], most: usize, noun: &str) {
        if values.is_empty() {
            self.field(label, "none", TextStyle::Plain);
        }
        let kept = self.kept(values.len(), most);
        for (index, value) in values[..kept].iter().enumerate() {
            self.field(if index == 0 { label } else { "" }, value, TextStyle::Plain);
        }
        if values.len() > kept {
            self.unseen = Unseen::Some;
            let left = format!("… {} more {noun}; ? shows all", values.len() - kept);
            self.line(TextStyle::Doubtful, &format!("{:FIELD_COLUMN$}{left}", ""));
        }
    }

    /// Adds encoded lines, each with its look, at most `most` rows on a screen.
    pub(super) fn block<'a>(&mut self, lines: impl Iterator<Item = (TextStyle, &'a str)>, most: usize) {
        let width = self.width.saturating_sub(BLOCK_COLUMN);
        let (mut shown, mut left) = (0, 0);
        for (look, line) in lines {
            let line = count_blanks(line);
            let rows = rows(&line, width);
            let room = self.kept(rows.len(), BLOCK_LINE_ROWS_MAX);
            let kept = room.min(self.kept(shown + rows.len(), most).saturating_sub(shown));
            for row in &rows[..kept] {
                let _ = writeln!(self.text, "{:BLOCK_COLUMN$}{}", "", self.style.paint(look, row));
            }
            shown += kept;
            if kept == room && kept < rows.len() && left == 0 {
                // The cut is inside this line, so the note about it takes a row of the block.
                shown += 1;
                self.leave_out(&rows[kept..], BLOCK_COLUMN);
            } else {
                left += bytes(&rows[kept..]);
            }
        }
        self.leave_out_bytes(left, BLOCK_COLUMN);
    }

    /// Adds a numbered line, cut to one row on a screen.
    pub(super) fn numbered(&mut self, number: usize, text: &str) {
        let text = OneLine(&count_blanks(text)).to_string();
        let label = format!("{:BLOCK_COLUMN$}{number}  ", "");
        let rows = rows(&text, self.width.saturating_sub(label.len()));
        let kept = self.kept(rows.len(), 1);
        let _ = writeln!(self.text, "{label}{}", rows[..kept].concat());
        self.leave_out(&rows[kept..], label.len());
    }

    /// Adds several numbered lines, at most `most` on a screen.
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
            self.unseen = Unseen::Some;
            let left = format!("… {} more {noun}; ? shows all", count - kept);
            self.line(TextStyle::Doubtful, &format!("{:BLOCK_COLUMN$}{left}", ""));
        }
    }

    /// Returns how many of these rows are shown.
    fn kept(&self, rows: usize, most: usize) -> usize {
        match self.extent {
            Extent::Screen => rows.min(most),
            Extent::Whole => rows,
        }
    }

    /// Adds a note with the number of bytes in these rows, which are not shown.
    fn leave_out(&mut self, rows: &[&str], column: usize) {
        self.leave_out_bytes(bytes(rows), column);
    }

    fn leave_out_bytes(&mut self, bytes: usize, column: usize) {
        if bytes > 0 {
            self.unseen = Unseen::Some;
            self.line(TextStyle::Doubtful, &format!("{:column$}… {bytes} more bytes; ? shows all", ""));
        }
    }
}

fn bytes(rows: &[&str]) -> usize {
    rows.iter().map(|row| row.len()).sum()
}
