//! Rows with aligned columns. Encodes every cell, so that no text in a table can move the cursor.

use crate::style::{Style, TextStyle};
use portcullis::text::OneLine;

/// The space between two columns.
const GAP: &str = "  ";

/// Minimum width of the last column when it is cut, in characters.
const LAST_COLUMN_MIN: usize = 20;

/// A cell of a row.
pub(crate) struct TableCell {
    text: String,
    look: TextStyle,
}

impl TableCell {
    /// Creates a cell with text of any origin. Encodes the text.
    pub(crate) fn new(look: TextStyle, text: &str) -> Self {
        let look = if text.is_empty() { TextStyle::Plain } else { look };
        Self { text: OneLine(text).to_string(), look }
    }

    /// Creates a cell without a look.
    pub(crate) fn plain(text: &str) -> Self {
        Self::new(TextStyle::Plain, text)
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// Rows with aligned columns.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<TableCell>>,
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

    /// Renders the rows as lines that start with `margin`. If a width is given, cuts the last column to it.
    pub(crate) fn render(&self, style: Style, margin: &str, width: Option<usize>) -> String {
        self.lines(style, margin, width).map(|line| line + "\n").collect()
    }

    /// Renders the rows, one line each, without line breaks.
    pub(crate) fn lines(&self, style: Style, margin: &str, width: Option<usize>) -> impl Iterator<Item = String> {
        let widths = self.widths();
        let before: usize = widths.iter().rev().skip(1).map(|width| width + GAP.len()).sum();
        let room = width.map(|width| width.saturating_sub(margin.len() + before).max(LAST_COLUMN_MIN));
        self.rows.iter().map(move |row| {
            let mut line = margin.to_owned();
            for (index, cell) in row.iter().enumerate() {
                let last = index + 1 == row.len();
                let text = if last { cut(&cell.text, room) } else { cell.text.clone() };
                line.push_str(&style.paint(cell.look, &text).to_string());
                if !last {
                    let padding = widths[index].saturating_sub(cell.width());
                    line.extend(std::iter::repeat_n(' ', padding));
                    line.push_str(GAP);
                }
            }
            line.truncate(line.trim_end_matches(' ').len());
            line
        })
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(TableCell::width).max();
        (0..columns).map(|column| width(column).unwrap_or(0)).collect()
    }
}

fn cut(text: &str, room: Option<usize>) -> String {
    match room {
        Some(room) if text.chars().count() > room => text.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
        Some(_) | None => text.to_owned(),
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
