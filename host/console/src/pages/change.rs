//! The change of files, row by row.

use crate::difference::{Difference, DifferenceRow};
use maud::{Markup, html};

/// Returns a change with its first rows. `label` names the region for screen readers.
pub(super) fn shown(difference: &Difference, rows: usize, caption: &str, label: &str) -> Markup {
    html! {
        figure.diff {
            figcaption {
                span { (caption) }
                span.stat { b.add { "+" (difference.added) } " " b.del { "−" (difference.removed) } }
            }
            pre tabindex="0" role="region" aria-label=(label) {
                @for row in difference.rows.iter().take(rows) { (row_shown(row)) }
                @if rows < difference.rows.len() {
                    span.note { "… " (difference.rows.len() - rows) " more rows" }
                }
            }
        }
    }
}

fn row_shown(row: &DifferenceRow) -> Markup {
    let line = |class: &str, sign: &str, spoken: &str, number: usize, text: &str| {
        html! {
            span class=(class) {
                i { (number) } b aria-hidden="true" { (sign) } @if !spoken.is_empty() { span.away { (spoken) } } (text) "\n"
            }
        }
    };
    match row {
        DifferenceRow::Note(text) => html! { span.note { (text) "\n" } },
        DifferenceRow::File(text) => html! { span.file { (text) "\n" } },
        DifferenceRow::Hunk(text) => html! { span.hunk { (text) "\n" } },
        DifferenceRow::Same(number, text) => line("same", " ", "", *number, text),
        DifferenceRow::Removed(number, text) => line("del", "−", "removed: ", *number, text),
        DifferenceRow::Added(number, text) => line("add", "+", "added: ", *number, text),
    }
}
