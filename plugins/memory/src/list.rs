//! `list`: lists the notes.

use portcullis_sdk::prelude::*;

use crate::notebook::Notebook;

/// Default number of notes to show.
const NOTES_DEFAULT: usize = 100;

/// Number of characters of a note to show next to its key: enough to decide whether to get it.
const BEGINNING_CHARACTERS: usize = 60;

#[arguments]
pub(crate) struct List {
    /// Shows only notes whose keys begin with this.
    #[serde(default)]
    prefix: String,
    /// How many notes to show.
    #[serde(default = "notes_default")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
}

fn notes_default() -> usize {
    NOTES_DEFAULT
}

/// Lists the notes: their keys in order, each with the beginning of its note. Get a note to see all of it.
#[tool(read_only, idempotent, requires(read), title = "List the notes")]
pub(crate) fn list(arguments: List, context: &Context) -> Result<Success<String>, Failure> {
    let List { prefix, limit } = arguments;
    let notebook = Notebook::of(context)?;
    let mut keys = notebook.keys()?;
    keys.retain(|key| key.starts_with(&prefix));
    let notes = keys.len();
    keys.truncate(limit);

    let mut lines = Vec::new();
    for key in &keys {
        // Another call may have deleted the note since the keys were read.
        lines.push(format!("{key}: {}", beginning(&notebook.get(key)?.unwrap_or_default())));
    }
    match notes - keys.len() {
        0 if notes == 0 && prefix.is_empty() => lines.push("(the notebook is empty)".to_owned()),
        0 if notes == 0 => lines.push("(no key has this prefix)".to_owned()),
        0 => {}
        more => lines.push(format!("({more} more; raise limit, or give a prefix)")),
    }
    let title = format!("Listed {} of {notes} notes", keys.len());
    let metadata = json!({ "keys": keys, "notes": notes, "left_out": notes - keys.len() });
    Ok(Success::new(lines.join("\n") + "\n").title(title).metadata(metadata))
}

/// Returns the beginning of a note in one line.
fn beginning(note: &str) -> String {
    let mut line: String = note.chars().take(BEGINNING_CHARACTERS).collect();
    if line.len() < note.len() {
        line.push('…');
    }
    line.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
