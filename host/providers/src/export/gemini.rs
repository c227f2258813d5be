//! Gemini's generateContent.

use super::notes::Notes;
use super::schema::{Dialect, rewritten};
use crate::definitions::Defined;
use serde_json::{Map, Value, json};

/// Returns the one tool that contains all functions, or nothing if there are none.
pub(super) fn together(declarations: &[Value]) -> Vec<Value> {
    if declarations.is_empty() { Vec::new() } else { vec![json!({ "functionDeclarations": declarations })] }
}

/// Exports a function whose parameters are JSON Schema.
pub(super) fn declaration(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let mut declaration = named(tool);
    declaration.insert("parametersJsonSchema".into(), said(tool, &Dialect::GEMINI, notes)?);
    Some(Value::Object(declaration))
}

/// Exports a function whose parameters are an OpenAPI schema.
pub(super) fn openapi_declaration(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let mut declaration = named(tool);
    let parameters = said(tool, &Dialect::GEMINI_OPENAPI, notes)?;
    // The provider refuses a function with an empty parameter list. Without one, the parameters' description needs
    // another place.
    if parameters.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty()) {
        declaration.insert("parameters".into(), parameters);
    } else if let Some(described) = parameters.get("description").and_then(Value::as_str) {
        let whole = format!("{}\n\nArguments: {described}", tool.offer.tool.description());
        declaration.insert("description".into(), Value::String(whole));
    }
    Some(Value::Object(declaration))
}

fn named(tool: &Defined) -> Map<String, Value> {
    let texts = [("name", tool.name.as_str()), ("description", tool.offer.tool.description())];
    texts.into_iter().map(|(key, text)| (key.to_owned(), Value::from(text))).collect()
}

/// Returns the schema in this dialect, or none if the provider cannot express how to call the tool.
fn said(tool: &Defined, dialect: &'static Dialect, notes: &mut Notes) -> Option<Value> {
    match rewritten(tool, dialect, notes) {
        Ok(schema) => Some(schema),
        Err(unfit) => {
            unfit.note_left_out(notes);
            None
        }
    }
}
