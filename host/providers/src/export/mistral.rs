//! Mistral's chat completions.

use super::notes::Notes;
use super::schema::{Touches, copied};
use crate::definitions::Defined;
use serde_json::{Value, json};

/// Exports a tool. The provider reads its schema as draft-07.
pub(super) fn tool(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let parameters = copied(tool, Touches::MISTRAL, notes)?;
    let description = tool.offer.tool.description();
    Some(json!({
        "type": "function",
        "function": { "name": tool.name, "description": description, "parameters": parameters },
    }))
}
