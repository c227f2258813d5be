//! LangChain's function format, which it binds to any model and makes callable tools of.

use super::notes::Notes;
use super::schema::{Touches, copied};
use crate::definitions::Defined;
use serde_json::{Value, json};

/// Exports a tool. It never sets `strict`: LangChain would then require every property, without a null for optional
/// ones.
pub(super) fn tool(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let parameters = copied(tool, Touches::LANGCHAIN, notes)?;
    Some(json!({ "name": tool.name, "description": tool.offer.tool.description(), "parameters": parameters }))
}
