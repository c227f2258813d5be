//! Writes the rebuilt tree as Markdown with `htmd`, and tidies the result.

use std::rc::Rc;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::{BrStyle, BulletListMarker, Options};
use htmd::{Element, HtmlToMarkdown};
use markup5ever_rcdom::Node;

use super::element::{attribute, children, element, is};

/// Maximum columns or rows that a cell may span. A hostile page could ask for millions.
const SPAN_MAX: usize = 50;

/// Writes nodes as Markdown.
pub(crate) fn write(nodes: Vec<Rc<Node>>) -> String {
    let options = Options {
        br_style: BrStyle::TwoSpaces,
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let writer = HtmlToMarkdown::builder().options(options).add_handler(vec!["table"], table).build();
    tidied(&writer.tree_to_markdown(&element("div", &[], nodes)))
}

/// Writes a table with one line for each row and no padding. Padding would cost more tokens than it helps.
#[expect(clippy::needless_pass_by_value, reason = "the signature of a handler of `htmd`")]
fn table(handlers: &dyn Handlers, table: Element) -> Option<HandlerResult> {
    let rows: Vec<_> = children(table.node).into_iter().filter(|node| is(node, &["tr"])).collect();
    let mut grid: Vec<Vec<Option<String>>> = vec![Vec::new(); rows.len()];
    for (at, row) in rows.iter().enumerate() {
        for cell in children(row) {
            let content = in_one_line(&handlers.walk_children(&cell).content);
            // A cell of a row above can reach into this row, so take the first free column.
            let column = grid[at].iter().position(Option::is_none).unwrap_or(grid[at].len());
            for below in grid.iter_mut().skip(at).take(span(&cell, "rowspan")) {
                for (step, column) in (column..column + span(&cell, "colspan")).enumerate() {
                    below.resize(below.len().max(column + 1), None);
                    below[column] = Some(if step == 0 { content.clone() } else { String::new() });
                }
            }
        }
    }
    let columns = grid.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines: Vec<String> = grid.iter().map(|row| line(row, columns)).collect();
    let has_header = rows.first().is_some_and(|row| attribute(row, "class").is_some_and(|class| &*class == "header"));
    if !has_header {
        // A Markdown table needs a header.
        lines.insert(0, line(&[], columns));
    }
    lines.insert(1, format!("|{}", " --- |".repeat(columns)));
    Some(format!("\n\n{}\n\n", lines.join("\n")).into())
}

fn span(cell: &Node, name: &str) -> usize {
    attribute(cell, name).and_then(|span| span.parse().ok()).unwrap_or(1).clamp(1, SPAN_MAX)
}

fn line(row: &[Option<String>], columns: usize) -> String {
    let cell = |column| row.get(column).and_then(Option::as_deref).unwrap_or_default();
    let cells: Vec<_> = (0..columns).map(|column| format!(" {} |", cell(column))).collect();
    format!("|{}", cells.concat())
}

fn in_one_line(content: &str) -> String {
    super::element::one_line(content).replace('|', "\\|")
}

/// Tidies Markdown: removes trailing white space, repeated empty lines, and escapes that have no effect.
fn tidied(markdown: &str) -> String {
    let mut tidy = String::with_capacity(markdown.len());
    let mut fence: Option<String> = None;
    let mut empty = 0;
    for line in markdown.lines() {
        let line = line.trim_end();
        let marks = fence_of(line);
        match &fence {
            Some(open) if marks.as_ref() == Some(open) && line.trim_start() == open => fence = None,
            Some(_) => {}
            None => {
                empty = if line.is_empty() { empty + 1 } else { 0 };
                if empty > 1 {
                    continue;
                }
                if marks.is_some() {
                    fence = marks;
                } else {
                    // A single leading space is left over from a line break, and is not indentation.
                    let line = line.strip_prefix(' ').filter(|line| !line.starts_with(' ')).unwrap_or(line);
                    tidy.push_str(&unescaped(line));
                    tidy.push('\n');
                    continue;
                }
            }
        }
        tidy.push_str(line);
        tidy.push('\n');
    }
    tidy.trim_matches('\n').to_owned()
}

/// Returns the backticks that open or close a fence, if a line begins with them.
fn fence_of(line: &str) -> Option<String> {
    let content = line.trim_start_matches([' ', '>', '-']);
    let marks = content.len() - content.trim_start_matches('`').len();
    (marks >= 3).then(|| "`".repeat(marks))
}

/// Removes escapes that no renderer needs: of `_` within a word, and of brackets that do not form a link. Code in
/// backticks is kept unchanged.
fn unescaped(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['\\', '`']) {
        plain.push_str(&rest[..at]);
        let taken = match rest[at..].starts_with('`') {
            true => code_bytes(&rest[at..]),
            false => {
                let after = &rest[at + 1..];
                if !is_needless(plain.chars().next_back(), after) {
                    plain.push('\\');
                }
                plain.extend(after.chars().next());
                rest = &after[after.chars().next().map_or(0, char::len_utf8)..];
                continue;
            }
        };
        plain.push_str(&rest[at..at + taken]);
        rest = &rest[at + taken..];
    }
    plain + rest
}

/// Returns the length of inline code, including its backticks.
fn code_bytes(text: &str) -> usize {
    let marks = text.len() - text.trim_start_matches('`').len();
    let (open, after) = text.split_at(marks);
    let mut from = 0;
    while let Some(at) = after[from..].find(open) {
        let run = after[from + at..].len() - after[from + at..].trim_start_matches('`').len();
        if run == marks {
            return marks + from + at + marks;
        }
        from += at + run;
    }
    marks
}

fn is_needless(before: Option<char>, after: &str) -> bool {
    let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    let next = after.chars().nth(1);
    match after.chars().next() {
        Some('_') => is_word(before) && is_word(next),
        Some('[') => true,
        Some(']') => !matches!(next, Some('(' | '[' | ':')),
        _ => false,
    }
}
