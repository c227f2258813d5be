//! Ollama's chat.

use super::notes::Notes;
use super::schema::flattened;
use crate::definitions::Defined;
use serde_json::{Value, json};

/// Exports a tool. Only the types of its arguments arrive, so the rest of its schema moves to the description.
pub(super) fn tool(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let (parameters, words) = flattened(tool, notes);
    let description = tool.offer.tool.description();
    let description = if words.is_empty() { description.to_owned() } else { format!("{description}\n\n{words}") };
    Some(json!({
        "type": "function",
        "function": { "name": tool.name, "description": description, "parameters": parameters },
    }))
}
