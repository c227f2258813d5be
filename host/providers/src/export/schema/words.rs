//! Moves keywords that a dialect lacks to the description, as JSON Schema, which models understand well.

use crate::export::notes::Notes;
use serde_json::{Map, Value};

/// Maximum bytes of such text for one schema. A longer text would use tokens in every turn, and models would not
/// understand it.
const WORDS_BYTES_MAX: usize = 1000;

/// Keywords of one schema that move to its description.
#[derive(Debug, Default)]
pub(super) struct Words {
    said: Map<String, Value>,
    bytes: usize,
}

impl Words {
    /// Moves a keyword to the description and notes the loss. If there is no space left, or the keyword would lose its
    /// meaning, it is left out.
    pub(super) fn say(&mut self, at: &str, keyword: &str, value: &Value, notes: &mut Notes) {
        self.say_for(at, keyword, keyword, value, notes);
    }

    /// Does the same for a keyword that replaces another.
    pub(super) fn say_for(&mut self, at: &str, lost: &str, keyword: &str, value: &Value, notes: &mut Notes) {
        let bytes = keyword.len() + value.to_string().len();
        if self.said.get(keyword).is_some_and(|said| said == value) {
            notes.add(at, lost, "moved to the description");
        } else if self.said.contains_key(keyword) || self.bytes + bytes > WORDS_BYTES_MAX || refers(value) {
            // The description has one value for each keyword, so a second one has no place in it.
            notes.add(at, lost, "left out");
        } else {
            self.bytes += bytes;
            self.said.insert(keyword.to_owned(), value.clone());
            notes.add(at, lost, "moved to the description");
        }
    }

    /// Returns the text, which is empty if there are no keywords.
    pub(super) fn text(self) -> String {
        if self.said.is_empty() { String::new() } else { format!("JSON Schema: {}", Value::Object(self.said)) }
    }

    /// Appends the text to the description.
    pub(super) fn write(self, members: &mut Map<String, Value>) {
        let words = self.text();
        append(members, &words);
    }
}

/// Appends a text to the description, unless it is empty or already the description.
pub(super) fn append(members: &mut Map<String, Value>, text: &str) {
    if text.is_empty() {
        return;
    }
    let whole = match members.get("description").and_then(Value::as_str) {
        None | Some("") => text.to_owned(),
        Some(same) if same == text => return,
        Some(described) => format!("{described}\n\n{text}"),
    };
    members.insert("description".to_owned(), Value::String(whole));
}

/// Returns whether a schema contains a reference, which would mean nothing in a description.
fn refers(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.contains_key("$ref") || members.values().any(refers),
        Value::Array(items) => items.iter().any(refers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
