//! Summarizes a schema for people: the arguments of a tool and their types.

use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use serde_json::{Map, Value};

/// Maximum length of a list of permitted values that is shown in full, in characters.
const VALUES_CHARACTERS_MAX: usize = 48;

/// Returns a table with a row for each argument.
pub(crate) fn table(schema: &Value) -> Table {
    let mut table = Table::default();
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = array(schema, "required").filter_map(Value::as_str).collect();
    for (name, property) in properties {
        let need = if required.contains(&name.as_str()) { "required" } else { "" };
        let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let description = description.lines().next().unwrap_or_default();
        table.row([
            TableCell::plain(name),
            TableCell::new(TextStyle::Quiet, &type_of(property)),
            TableCell::new(TextStyle::Quiet, need),
            TableCell::plain(description),
        ]);
    }
    table
}

fn array<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn type_of(schema: &Value) -> String {
    let values: Vec<String> = array(schema, "enum").map(Value::to_string).collect();
    let listed = values.join(" | ");
    if !values.is_empty() && listed.chars().count() <= VALUES_CHARACTERS_MAX {
        return listed;
    }
    let named = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        Some(_) | None => "any".to_owned(),
    };
    match schema.get("items") {
        Some(items) if named == "array" => format!("array of {}", type_of(items)),
        Some(_) | None => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_named_as_the_schema_names_them() {
        let rows = [
            (json!({ "type": "string" }), "string"),
            (json!({ "type": ["integer", "null"] }), "integer | null"),
            (json!({ "type": "array", "items": { "type": "string" } }), "array of string"),
            (json!({ "enum": ["a", 1] }), "\"a\" | 1"),
            (json!({ "$ref": "#/$defs/x" }), "any"),
            (json!(true), "any"),
        ];
        for (schema, expected) in rows {
            assert_eq!(type_of(&schema), expected);
        }
    }
}
