//! Rows with aligned columns. Encodes every cell, so that no text in a table can move the cursor.

use crate::style::{Style, TextStyle};
use crate::wrap::{columns, cut, folded};
use portcullis::text::OneLine;
use std::ops::Range;

/// The space between two columns.
const GAP: &str = "  ";

/// Minimum width of the last column next to the others, in columns of the terminal. With less, it goes below them.
const LAST_COLUMN_MIN: usize = 20;

/// The indentation of columns that go below the others.
const BELOW: usize = 4;

/// A cell of a row.
pub(crate) struct TableCell {
    text: String,
    look: TextStyle,
}

impl TableCell {
    /// Creates a cell with text of any origin. Encodes the text.
    pub(crate) fn new(look: TextStyle, text: &str) -> Self {
        // A painted empty text has colour codes, which would keep spaces from being trimmed.
        let look = if text.is_empty() { TextStyle::Plain } else { look };
        Self { text: OneLine(text).to_string(), look }
    }

    /// Creates a cell without a look.
    pub(crate) fn plain(text: &str) -> Self {
        Self::new(TextStyle::Plain, text)
    }

    fn width(&self) -> usize {
        columns(&self.text)
    }
}

/// Rows with aligned columns.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<TableCell>>,
}

/// What happens to a text that is wider than its column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overflow {
    /// It ends with `…`.
    Cut,
    /// It goes on in the next line.
    Wrap,
}

/// The places of the columns on a terminal.
struct TableLayout<'a> {
    style: Style,
    margin: &'a str,
    width: Option<usize>,
    overflow: Overflow,
    widths: Vec<usize>,
    /// The columns of each line of a row: all of them in one line if they fit.
    lines: Vec<Range<usize>>,
}

impl Table {
    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [TableCell; N]) {
        self.rows.push(cells.into());
    }

    /// Returns whether the table has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Renders the rows as lines that start with `margin`. If a width is given, no line is wider: columns that do not
    /// fit go below the others, and a text that is still too long is cut.
    pub(crate) fn render(&self, style: Style, margin: &str, width: Option<usize>) -> String {
        self.lines(style, margin, width).map(|line| line + "\n").collect()
    }

    /// Renders the rows as [`Self::render`] does, and cuts nothing: a text that is too long goes on in the next line.
    pub(crate) fn render_whole(&self, style: Style, margin: &str, width: Option<usize>) -> String {
        let layout = self.layout(style, margin, width, Overflow::Wrap);
        self.rows.iter().map(|row| layout.row(row) + "\n").collect()
    }

    /// Renders each row, without the line break at its end.
    pub(crate) fn lines(&self, style: Style, margin: &str, width: Option<usize>) -> impl Iterator<Item = String> {
        let layout = self.layout(style, margin, width, Overflow::Cut);
        self.rows.iter().map(move |row| layout.row(row))
    }

    fn layout<'a>(&self, style: Style, margin: &'a str, width: Option<usize>, overflow: Overflow) -> TableLayout<'a> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width_of = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(TableCell::width).max();
        let widths: Vec<usize> = (0..count).map(|column| width_of(column).unwrap_or(0)).collect();
        let lines = lines(&widths, margin.len(), width);
        TableLayout { style, margin, width, overflow, widths, lines }
    }
}

/// Distributes the columns over lines, so that all but the last of each line fit.
fn lines(widths: &[usize], margin: usize, width: Option<usize>) -> Vec<Range<usize>> {
    let one_line = 0..widths.len();
    let Some((width, (last, others))) = width.zip(widths.split_last()) else { return vec![one_line] };
    let before: usize = others.iter().map(|width| width + GAP.len()).sum();
    // Only the last column can be cut or wrapped, so the others decide.
    if margin + before + last.min(&LAST_COLUMN_MIN) <= width {
        return vec![one_line];
    }
    let (mut lines, mut start, mut used) = (Vec::new(), 0, margin);
    for (column, wanted) in widths.iter().enumerate() {
        let gap = if column > start { GAP.len() } else { 0 };
        if column > start && used + gap + wanted > width {
            lines.push(start..column);
            (start, used) = (column, margin + BELOW + wanted);
        } else {
            used += gap + wanted;
        }
    }
    lines.push(start..widths.len());
    lines
}

impl TableLayout<'_> {
    fn row(&self, row: &[TableCell]) -> String {
        let mut text = String::new();
        for (number, columns) in self.lines.iter().enumerate() {
            let cells = row.get(columns.start..columns.end.min(row.len())).unwrap_or_default();
            if number > 0 && cells.iter().all(|cell| cell.text.is_empty()) {
                continue;
            }
            if number > 0 {
                text.push('\n');
            }
            self.line(&mut text, cells, columns, if number > 0 { BELOW } else { 0 });
        }
        text
    }

    fn line(&self, text: &mut String, cells: &[TableCell], columns: &Range<usize>, indent: usize) {
        let begin = text.len();
        text.push_str(self.margin);
        text.extend(std::iter::repeat_n(' ', indent));
        let mut used = self.margin.len() + indent;
        let last = cells.len().saturating_sub(1);
        for (cell, width) in cells[..last].iter().zip(&self.widths[columns.start..]) {
            text.push_str(&self.style.paint(cell.look, &cell.text).to_string());
            text.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width())));
            text.push_str(GAP);
            used += width + GAP.len();
        }
        if let Some(cell) = cells.last() {
            text.push_str(&self.fitted(cell, used));
        }
        text.truncate(begin + text[begin..].trim_end_matches(' ').len());
    }

    /// Returns the text of the last cell of a line, which begins in a column of the terminal.
    fn fitted(&self, cell: &TableCell, begin: usize) -> String {
        let paint = |text: &str| self.style.paint(cell.look, text).to_string();
        let Some(width) = self.width else { return paint(&cell.text) };
        let room = width.saturating_sub(begin).max(1);
        match self.overflow {
            Overflow::Cut => paint(&cut(&cell.text, room)),
            Overflow::Wrap => {
                let rows = folded(&cell.text, room);
                let rows: Vec<String> = rows.iter().map(|row| paint(row)).collect();
                rows.join(&format!("\n{}", " ".repeat(begin)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::default();
        table.row([
            TableCell::plain("a"),
            TableCell::plain("bb"),
            TableCell::plain("the last column is the one that is cut"),
        ]);
        table.row([TableCell::plain("ccc"), TableCell::plain(""), TableCell::plain("")]);
        table
    }

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_spaces() {
        let text = table().render(Style::Plain, " ", None);
        assert_eq!(text, " a    bb  the last column is the one that is cut\n ccc\n");
    }

    #[test]
    fn only_the_last_column_is_cut_to_the_width() {
        let text = table().render(Style::Plain, "", Some(30));
        assert_eq!(text, "a    bb  the last column is t…\nccc\n");
    }

    #[test]
    fn columns_that_do_not_fit_go_below_the_others() {
        let mut table = Table::default();
        table.row(["TOOL", "DECISION", "DESCRIPTION"].map(TableCell::plain));
        table.row(["files.read", "depends on arguments", "reads a file"].map(TableCell::plain));
        table.row(["files.write", "deny", ""].map(TableCell::plain));
        let expected = "\
TOOL         DECISION
    DESCRIPTION
files.read   depends on arguments
    reads a file
files.write  deny
";
        assert_eq!(table.render(Style::Plain, "", Some(36)), expected);
    }

    #[test]
    fn nothing_is_cut_from_a_whole_table_and_no_line_is_too_wide() {
        let text = table().render_whole(Style::Plain, "", Some(30));
        assert_eq!(text, "a    bb  the last column is\n         the one that is cut\nccc\n");
        for width in 8..50 {
            let text = table().render_whole(Style::Plain, "  ", Some(width));
            assert!(text.lines().all(|line| line.len() <= width), "{width}:\n{text}");
            assert_eq!(text.replace([' ', '\n'], ""), "abbthelastcolumnistheonethatiscutccc");
        }
    }

    #[test]
    fn text_in_a_cell_cannot_leave_it() {
        let mut table = Table::default();
        table.row([TableCell::plain("a\n\u{1b}[2J"), TableCell::new(TextStyle::Bad, "\u{202e}b")]);
        assert_eq!(table.render(Style::Plain, "", None), "a\\n\\u{1b}[2J  \\u{202e}b\n");
    }

    #[test]
    fn colour_does_not_change_the_columns() {
        let mut table = Table::default();
        table.row([TableCell::new(TextStyle::Good, "a"), TableCell::plain("b")]);
        table.row([TableCell::plain("aaa"), TableCell::plain("b")]);
        assert_eq!(table.render(Style::Coloured, "", None), "\u{1b}[32ma\u{1b}[0m    b\naaa  b\n");
    }
}
