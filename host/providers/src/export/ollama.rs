//! Ollama's chat.

use super::notes::Notes;
use super::schema::flattened;
use crate::definitions::Defined;
use serde_json::{Value, json};

/// A tool. What its schema says beyond the types of its arguments does not arrive, so it is said in words.
pub(super) fn tool(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let (parameters, words) = flattened(tool, notes);
    let description = tool.offer.tool.description();
    let description = if words.is_empty() { description.to_owned() } else { format!("{description}\n\n{words}") };
    Some(json!({
        "type": "function",
        "function": { "name": tool.name, "description": description, "parameters": parameters },
    }))
}
