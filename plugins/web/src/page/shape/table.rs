//! Tables. Keeps a table of data, and dissolves a table that is only used for layout.

use std::rc::Rc;

use markup5ever_rcdom::Node;

use super::{Place, Shaper, block, is_blank};
use crate::page::element::{any, attribute, children, element, is, one_line, text, text_of, text_of_all};

/// Elements that do not fit into a one-line cell.
const TOO_LARGE: [&str; 11] = ["table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "dl", "hr"];

/// Maximum number of columns. A text reader cannot follow more.
const COLUMNS_MAX: usize = 20;

/// Maximum text of a cell. A cell with more is page content in a layout table.
const CELL_BYTES_MAX: usize = 1_500;

/// Maximum line breaks of a cell. A cell with more cannot be put in one line.
const CELL_BREAKS_MAX: usize = 4;

/// A row: its cells, and whether it is a header.
struct Row {
    cells: Vec<Rc<Node>>,
    is_header: bool,
}

impl Shaper<'_> {
    pub(super) fn table(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let mut rows = Vec::new();
        let mut captions = Vec::new();
        for child in children(node) {
            if is(&child, &["caption"]) {
                self.node(&child, place, &mut captions);
            }
        }
        self.rows(node, false, place, &mut rows);
        shaped.extend(captions);
        if place.line {
            let cells = rows.into_iter().flat_map(|row| row.cells);
            for cell in cells {
                shaped.extend(self.children(&cell, place));
                shaped.push(text(" "));
            }
        } else if is_data(node, &rows) {
            shaped.extend(self.data(rows, place));
        } else {
            for cell in rows.into_iter().flat_map(|row| row.cells) {
                match is(&cell, &["th"]) {
                    true => self.title(&cell, place, shaped),
                    false => shaped.extend(block("div", self.children(&cell, place))),
                }
            }
        }
    }

    /// Collects the rows of a table, including those in row groups.
    fn rows(&self, node: &Rc<Node>, is_head: bool, place: Place, rows: &mut Vec<Row>) {
        for child in children(node) {
            if self.is_left_out(&child, place) {
                continue;
            } else if is(&child, &["thead", "tbody", "tfoot"]) {
                self.rows(&child, is(&child, &["thead"]), place, rows);
            } else if is(&child, &["tr"]) {
                let cells: Vec<_> = children(&child)
                    .into_iter()
                    .filter(|cell| is(cell, &["td", "th"]) && !self.is_left_out(cell, place))
                    .collect();
                let is_header = is_head || (!cells.is_empty() && cells.iter().all(|cell| is(cell, &["th"])));
                rows.push(Row { cells, is_header });
            }
        }
    }

    /// Rebuilds a data table from rows and cells only, with its header first.
    fn data(&self, rows: Vec<Row>, place: Place) -> Option<Rc<Node>> {
        let mut shaped = Vec::new();
        for row in rows {
            let cell = |cell: &Rc<Node>| {
                let span = |name: &str| attribute(cell, name).map(|span| span.to_string()).unwrap_or_default();
                let spans = [("colspan", span("colspan")), ("rowspan", span("rowspan"))];
                let attributes: Vec<_> = spans.iter().map(|(name, value)| (*name, value.as_str())).collect();
                element("td", &attributes, self.children(cell, Place { strong: row.is_header, ..place.line() }))
            };
            let cells: Vec<_> = row.cells.iter().map(cell).collect();
            if is_blank(&cells) {
                continue;
            }
            // A header further down becomes an ordinary row.
            let is_header = row.is_header && shaped.is_empty();
            let name = if is_header { "header" } else { "row" };
            shaped.push(element("tr", &[("class", name)], cells));
        }
        (!shaped.is_empty()).then(|| element("table", &[], shaped))
    }
}

/// Returns whether a table holds data, and is not only used for layout.
fn is_data(node: &Rc<Node>, rows: &[Row]) -> bool {
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let filled = rows.iter().filter(|row| !row.cells.is_empty()).count();
    let has_header = rows.iter().any(|row| row.is_header || row.cells.iter().any(|cell| is(cell, &["th"])));
    let is_layout = attribute(node, "role").is_some_and(|role| matches!(&*role, "presentation" | "none"));
    let fits = |cell: &Rc<Node>| {
        !any(cell, |node| is(node, &TOO_LARGE))
            && one_line(&text_of(cell)).len() <= CELL_BYTES_MAX
            && breaks(cell) <= CELL_BREAKS_MAX
    };
    !is_layout
        && (2..=COLUMNS_MAX).contains(&columns)
        && (filled >= 2 || has_header)
        && rows.iter().flat_map(|row| &row.cells).all(fits)
        && !text_of_all(&rows.iter().flat_map(|row| row.cells.clone()).collect::<Vec<_>>()).trim().is_empty()
}

fn breaks(cell: &Rc<Node>) -> usize {
    let mut breaks = 0;
    let mut open = vec![cell.clone()];
    while let Some(node) = open.pop() {
        breaks += usize::from(is(&node, &["br"]));
        open.extend(node.children.borrow().iter().cloned());
    }
    breaks
}
