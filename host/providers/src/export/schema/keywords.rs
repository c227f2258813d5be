//! What the keywords of JSON Schema 2020-12 hold and say.

use serde_json::{Map, Value};

/// Keywords whose value is one schema.
pub(super) const ONE: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
pub(super) const MANY: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords whose value is schemas by name.
pub(super) const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Keywords that name, number or comment a schema and say nothing of a value. They are for whoever maintains it: an
/// export without them says as much, so that it is no loss. `$schema` is one of them, since there is one dialect.
const STRUCTURE: [&str; 7] = ["$anchor", "$comment", "$defs", "$id", "$schema", "definitions", "$vocabulary"];

/// Keywords that tell of a value and refuse none.
const ANNOTATIONS: [&str; 7] = ["default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"];

/// Whether a keyword says nothing of a value.
pub(super) fn is_structure(keyword: &str) -> bool {
    STRUCTURE.contains(&keyword)
}

/// Whether a keyword refuses no value.
pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || is_structure(keyword)
}

/// The schemas directly below one, each with its keyword, and the name or number it has there if that is not the only
/// one.
pub(super) fn children(members: &Map<String, Value>) -> Vec<(&str, Option<String>, &Value)> {
    let mut children = Vec::new();
    for (keyword, value) in members {
        let keyword = keyword.as_str();
        match value {
            _ if ONE.contains(&keyword) => children.push((keyword, None, value)),
            Value::Array(items) if MANY.contains(&keyword) => {
                children.extend(items.iter().enumerate().map(|(place, item)| (keyword, Some(place.to_string()), item)));
            }
            Value::Object(named) if NAMED.contains(&keyword) => {
                children.extend(named.iter().map(|(name, child)| (keyword, Some(name.clone()), child)));
            }
            _ => {}
        }
    }
    children
}
