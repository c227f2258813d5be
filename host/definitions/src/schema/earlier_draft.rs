//! Converts schemas of earlier drafts, which many MCP servers send, to the dialect of this host.

use super::parts;
use serde_json::{Map, Value};

/// The dialects that are converted: drafts 6 and 7, without the protocol.
const EARLIER: [&str; 2] = ["//json-schema.org/draft-06/schema", "//json-schema.org/draft-07/schema"];

/// Converts a schema of draft 6 or 7 to JSON Schema 2020-12. Any other schema stays as it is.
///
/// A list of schemas in `items` becomes `prefixItems`. `dependencies` becomes `dependentRequired` and
/// `dependentSchemas`. Beside a `$ref`, the earlier drafts ignore all other keywords. The converted schema does not, so
/// it can only refuse more.
/// <https://json-schema.org/draft/2020-12/release-notes>
///
/// ```
/// use portcullis_definitions::schema::from_earlier_draft;
/// use serde_json::json;
///
/// let earlier = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": [{ "type": "string" }] });
/// assert_eq!(from_earlier_draft(earlier), json!({ "prefixItems": [{ "type": "string" }] }));
/// ```
pub fn from_earlier_draft(mut schema: Value) -> Value {
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let place = dialect.trim_end_matches('#').split_once(':').map_or("", |(_, place)| place);
    if EARLIER.contains(&place) {
        convert(&mut schema);
    }
    schema
}

fn convert(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    // The gate refuses every `$schema` that is not the dialect of this host.
    members.remove("$schema");
    convert_items(members);
    convert_dependencies(members);
    for (keyword, value) in members.iter_mut() {
        match value {
            _ if parts::ONE.contains(&keyword.as_str()) => convert(value),
            Value::Array(list) if parts::MANY.contains(&keyword.as_str()) => list.iter_mut().for_each(convert),
            Value::Object(named) if parts::NAMED.contains(&keyword.as_str()) => named.values_mut().for_each(convert),
            _ => {}
        }
    }
}

fn convert_items(members: &mut Map<String, Value>) {
    let rest = members.remove("additionalItems");
    if members.get("items").is_some_and(Value::is_array) {
        if let Some(list) = members.remove("items") {
            members.insert("prefixItems".to_owned(), list);
        }
        // Without a list, `additionalItems` has no effect.
        if let Some(rest) = rest {
            members.insert("items".to_owned(), rest);
        }
    }
}

fn convert_dependencies(members: &mut Map<String, Value>) {
    let Some(Value::Object(dependencies)) = members.remove("dependencies") else { return };
    let (required, schemas): (Map<_, _>, Map<_, _>) =
        dependencies.into_iter().partition(|(_, dependency)| dependency.is_array());
    for (keyword, dependencies) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
        if !dependencies.is_empty() {
            members.insert(keyword.to_owned(), Value::Object(dependencies));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use serde_json::json;

    #[test]
    fn keywords_that_have_changed_are_converted_where_they_are_keywords() {
        let earlier = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "items": { "type": "array", "items": [{ "type": "string" }], "additionalItems": false },
                "dependencies": { "type": "array", "items": { "$schema": "x", "type": "string" } },
                "one": { "anyOf": [{ "items": [{ "type": "integer" }] }, { "additionalItems": false }] }
            },
            "definitions": { "a": { "items": [true] } },
            "dependencies": { "one": ["items"], "items": { "required": ["one"] } }
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "items": { "type": "array", "prefixItems": [{ "type": "string" }], "items": false },
                "dependencies": { "type": "array", "items": { "type": "string" } },
                "one": { "anyOf": [{ "prefixItems": [{ "type": "integer" }] }, {}] }
            },
            "definitions": { "a": { "prefixItems": [true] } },
            "dependentRequired": { "one": ["items"] },
            "dependentSchemas": { "items": { "required": ["one"] } }
        });
        let converted = from_earlier_draft(earlier);
        assert_eq!(converted, expected);
        let schema = Schema::of_arguments(&converted.to_string()).unwrap();
        assert!(schema.is_match(&json!({ "items": ["a"], "one": [1] })));
        assert!(!schema.is_match(&json!({ "items": [1], "one": [1] })));
        assert!(!schema.is_match(&json!({ "one": [1] })));
    }

    #[test]
    fn other_dialects_are_not_touched() {
        for dialect in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-04/schema#", "x"]
        {
            let schema = json!({ "$schema": dialect, "items": [true] });
            assert_eq!(from_earlier_draft(schema.clone()), schema);
        }
        assert_eq!(from_earlier_draft(json!(true)), json!(true));
        assert_eq!(from_earlier_draft(json!({ "items": [true] })), json!({ "items": [true] }));
    }
}
