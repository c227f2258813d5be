//! What a dialect has no keyword for, in the description: as the JSON Schema it was, which models read well.

use crate::export::notes::Notes;
use serde_json::{Map, Value};

/// What is said in words of one schema, in bytes. More would be read in every turn and understood in none.
const WORDS_BYTES_MAX: usize = 1000;

/// Keywords of one schema on their way into its description.
#[derive(Debug, Default)]
pub(super) struct Words {
    said: Map<String, Value>,
    bytes: usize,
}

impl Words {
    /// Says a keyword in words, if they are not too many and mean the same there, and notes the loss.
    pub(super) fn say(&mut self, at: &str, keyword: &str, value: &Value, notes: &mut Notes) {
        self.say_for(at, keyword, keyword, value, notes);
    }

    /// The same for a keyword that stands for another.
    pub(super) fn say_for(&mut self, at: &str, lost: &str, keyword: &str, value: &Value, notes: &mut Notes) {
        let bytes = keyword.len() + value.to_string().len();
        if self.said.get(keyword).is_some_and(|said| said == value) {
            notes.add(at, lost, "said in the description");
        } else if self.said.contains_key(keyword) || self.bytes + bytes > WORDS_BYTES_MAX || refers(value) {
            notes.add(at, lost, "left out");
        } else {
            self.bytes += bytes;
            self.said.insert(keyword.to_owned(), value.clone());
            notes.add(at, lost, "said in the description");
        }
    }

    /// The words; empty where nothing is to be said.
    pub(super) fn text(self) -> String {
        if self.said.is_empty() { String::new() } else { format!("JSON Schema: {}", Value::Object(self.said)) }
    }

    /// Writes the words below the description.
    pub(super) fn write(self, members: &mut Map<String, Value>) {
        let words = self.text();
        append(members, &words);
    }
}

/// Writes text below the description, if it is any and does not stand there already.
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

/// Whether a schema refers to another, whose name would mean nothing in a description.
fn refers(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.contains_key("$ref") || members.values().any(refers),
        Value::Array(items) => items.iter().any(refers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
