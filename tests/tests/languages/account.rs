//! The documentation lists every gap of every language.

use crate::row::{Gap, ROWS, repository};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

/// The markers around the text that this test generates.
const BEGIN: &str = "<!-- gaps: begin -->\n";
const END: &str = "<!-- gaps: end -->\n";
/// The variable that makes the test rewrite the document.
const WRITE: &str = "PORTCULLIS_WRITE_LANGUAGES";

/// Returns the table of what a language cannot do, and why.
fn table() -> String {
    let mut keys: BTreeSet<String> =
        ROWS.iter().flat_map(|row| row.gaps().keys().cloned().collect::<Vec<_>>()).collect();
    let mut text = String::from("| tool or case |");
    for row in ROWS {
        write!(text, " {} |", row.title).unwrap();
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(ROWS.len()));
    text.push('\n');
    let mut reasons: Vec<String> = Vec::new();
    for key in std::mem::take(&mut keys) {
        write!(text, "| {key} |").unwrap();
        for row in ROWS {
            match row.gaps().get(&key) {
                None => text.push_str(" yes |"),
                Some(Gap { why, code, .. }) => {
                    let at = reasons.iter().position(|reason| reason == why).unwrap_or_else(|| {
                        reasons.push(why.clone());
                        reasons.len() - 1
                    });
                    match code.as_str() {
                        Gap::NO_TOOL => write!(text, " no ({}) |", at + 1).unwrap(),
                        code => write!(text, " `{code}` ({}) |", at + 1).unwrap(),
                    }
                }
            }
        }
        text.push('\n');
    }
    text.push('\n');
    for (number, why) in reasons.iter().enumerate() {
        writeln!(text, "{}. {why}", number + 1).unwrap();
    }
    text
}

#[test]
fn the_document_lists_every_gap() {
    let file = repository().join("docs/languages.md");
    let document = fs::read_to_string(&file).unwrap();
    let (before, rest) = document.split_once(BEGIN).expect("the document has a start marker");
    let (kept, after) = rest.split_once(END).expect("the document has an end marker");
    let table = table();
    if std::env::var_os(WRITE).is_some() {
        fs::write(&file, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(kept, table, "{WRITE}=1 rewrites it");
}
