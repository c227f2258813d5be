//! LangChain's own shape of a function, which it binds to any model and makes callable tools of.

use super::notes::Notes;
use super::schema::{Touches, copied};
use crate::definitions::Defined;
use serde_json::{Value, json};

/// A tool. `strict` is never said: it would make LangChain require every property, without a null for those that may be
/// left out.
pub(super) fn tool(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let parameters = copied(tool, Touches::LANGCHAIN, notes)?;
    Some(json!({ "name": tool.name, "description": tool.offer.tool.description(), "parameters": parameters }))
}
