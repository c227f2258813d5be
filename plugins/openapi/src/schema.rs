//! Schemas of the document as JSON Schema 2020-12 that a host accepts.
//!
//! References are replaced by their target. A schema that is too deep or too large becomes `{}` at some depth, which
//! accepts any value. The result never accepts less than the schema of the document.

use portcullis_sdk::serde_json::{Map, Value, json};

use crate::document::Document;
use crate::text::paragraph;

/// Depths to try, in subschemas. The first is below the 64 levels of JSON that a host parses.
const DEPTHS: [usize; 6] = [12, 8, 6, 4, 3, 2];

/// Maximum bytes of a description in a schema.
const DESCRIPTION_BYTES_MAX: usize = 400;

/// Maximum bytes of a pattern that a description shows.
const PATTERN_BYTES_MAX: usize = 100;

/// How large a schema may become.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaBudget {
    pub(crate) bytes: usize,
    pub(crate) subschemas: usize,
}

/// A converted schema.
#[derive(Debug)]
pub(crate) struct ConvertedSchema {
    pub(crate) schema: Value,
    pub(crate) bytes: usize,
    pub(crate) subschemas: usize,
    /// Whether a part was replaced by `{}`.
    pub(crate) is_trimmed: bool,
}

/// Converts a schema, as deep as the budget permits.
pub(crate) fn convert(document: &Document, schema: &Value, budget: SchemaBudget) -> Result<ConvertedSchema, String> {
    let mut levels = usize::MAX;
    for depth in DEPTHS {
        if depth >= levels {
            // It would cut nothing off, so the result would be the same.
            continue;
        }
        let mut conversion = SchemaConversion {
            document,
            subschemas_max: budget.subschemas,
            subschemas: 0,
            depth_left: depth,
            is_trimmed: false,
        };
        let schema = conversion.schema(schema, depth)?;
        let SchemaConversion { subschemas, depth_left, is_trimmed, .. } = conversion;
        let bytes = schema.to_string().len();
        if subschemas <= budget.subschemas && bytes <= budget.bytes {
            return Ok(ConvertedSchema { schema, bytes, subschemas, is_trimmed });
        }
        levels = depth - depth_left + 1;
    }
    Ok(ConvertedSchema { schema: json!({}), bytes: "{}".len(), subschemas: 1, is_trimmed: true })
}

struct SchemaConversion<'a> {
    document: &'a Document,
    subschemas_max: usize,
    subschemas: usize,
    /// The depth that the deepest subschema had left.
    depth_left: usize,
    is_trimmed: bool,
}

impl SchemaConversion<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Value, String> {
        self.subschemas += 1;
        self.depth_left = self.depth_left.min(depth);
        if depth == 0 || self.subschemas > self.subschemas_max {
            self.is_trimmed = true;
            return Ok(json!({}));
        }
        let resolved = self.document.resolve(schema)?;
        let Value::Object(from) = resolved else { return Ok(json!({})) };
        let mut to = Map::new();
        self.type_and_values(from, &mut to);
        numbers(from, &mut to);
        self.children(from, &mut to, depth - 1)?;
        if let Some(text) = description(schema, from) {
            to.insert("description".to_owned(), Value::String(text));
        }
        Ok(Value::Object(to))
    }

    fn type_and_values(&self, from: &Map<String, Value>, to: &mut Map<String, Value>) {
        let is_nullable = from.get("nullable") == Some(&Value::Bool(true));
        let mut types = types(from.get("type"));
        if is_nullable && !types.is_empty() && !types.contains(&"null") {
            types.push("null");
        }
        match types.as_slice() {
            [] => {}
            [one] => drop(to.insert("type".to_owned(), json!(one))),
            several => drop(to.insert("type".to_owned(), json!(several))),
        }
        if let Some(values) = from.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
            let mut distinct: Vec<Value> = Vec::new();
            for value in values.iter().chain(is_nullable.then_some(&Value::Null)) {
                if !distinct.contains(value) {
                    distinct.push(value.clone());
                }
            }
            to.insert("enum".to_owned(), Value::Array(distinct));
        }
        for keyword in ["const", "default"] {
            if let Some(value) = from.get(keyword) {
                to.insert(keyword.to_owned(), value.clone());
            }
        }
        if let Some(format) = from.get("format").and_then(Value::as_str) {
            to.insert("format".to_owned(), json!(format));
        }
    }

    fn children(&mut self, from: &Map<String, Value>, to: &mut Map<String, Value>, depth: usize) -> Result<(), String> {
        if let Some(properties) = from.get("properties").and_then(Value::as_object) {
            let mut converted = Map::new();
            for (name, property) in properties.iter() {
                // OpenAPI says that a request should not have a property that is read-only.
                if !self.is_read_only(property) {
                    converted.insert(name.clone(), self.schema(property, depth)?);
                }
            }
            to.insert("properties".to_owned(), Value::Object(converted));
        }
        if let Some(required) = from.get("required").and_then(Value::as_array) {
            let required = self.required(required, from);
            if !required.is_empty() {
                to.insert("required".to_owned(), json!(required));
            }
        }
        // Without the keyword that lists the others, `false` would refuse what the document accepts.
        for (keyword, others) in [("items", "prefixItems"), ("additionalProperties", "patternProperties")] {
            match from.get(keyword).filter(|_| !from.contains_key(others)) {
                Some(Value::Bool(flag)) => drop(to.insert(keyword.to_owned(), json!(flag))),
                Some(child @ Value::Object(_)) => drop(to.insert(keyword.to_owned(), self.schema(child, depth)?)),
                _ => {}
            }
        }
        // `oneOf` becomes `anyOf`: a trimmed alternative could match a value in addition to the right one.
        for (keyword, converted) in [("allOf", "allOf"), ("anyOf", "anyOf"), ("oneOf", "anyOf")] {
            let Some(list) = from.get(keyword).and_then(Value::as_array).filter(|list| !list.is_empty()) else {
                continue;
            };
            let list = list.iter().map(|child| self.schema(child, depth)).collect::<Result<Vec<_>, _>>()?;
            // If there are both `anyOf` and `oneOf`, keep only the first. Leaving one out accepts more and never less.
            to.entry(converted).or_insert(Value::Array(list));
        }
        Ok(())
    }

    /// Returns the required properties that a request may have, each once.
    fn required<'b>(&self, required: &'b [Value], from: &Map<String, Value>) -> Vec<&'b str> {
        let mut names: Vec<&str> = Vec::new();
        for name in required.iter().filter_map(Value::as_str) {
            let property = from.get("properties").and_then(|properties| properties.get(name));
            if !names.contains(&name) && !property.is_some_and(|property| self.is_read_only(property)) {
                names.push(name);
            }
        }
        names
    }

    fn is_read_only(&self, property: &Value) -> bool {
        // `schema` reports a broken reference.
        let target = self.document.resolve(property).unwrap_or(property);
        target.get("readOnly") == Some(&Value::Bool(true))
    }
}

/// Returns the valid types, each once. `file` of old documents and other unknown types are left out.
fn types(value: Option<&Value>) -> Vec<&str> {
    const KNOWN: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];
    let listed: Vec<&str> = match value {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    // A list with an unknown type accepts more than the known ones.
    if listed.iter().any(|one| !KNOWN.contains(one)) {
        return Vec::new();
    }
    KNOWN.into_iter().filter(|one| listed.contains(one)).collect()
}

/// Converts the limits of numbers, texts, lists and objects. Invalid ones are left out.
fn numbers(from: &Map<String, Value>, to: &mut Map<String, Value>) {
    for (limit, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let number = from.get(limit).filter(|value| value.is_number());
        match (from.get(exclusive), number) {
            (Some(Value::Bool(true)), Some(number)) => drop(to.insert(exclusive.to_owned(), number.clone())),
            (other, number) => {
                for (keyword, value) in [(limit, number), (exclusive, other.filter(|value| value.is_number()))] {
                    if let Some(value) = value {
                        to.insert(keyword.to_owned(), value.clone());
                    }
                }
            }
        }
    }
    // A fraction such as 0.01 has no exact value, so a valid number could be refused.
    if let Some(step) = from.get("multipleOf").filter(|step| step.as_u64().is_some_and(|step| step > 0)) {
        to.insert("multipleOf".to_owned(), step.clone());
    }
    for keyword in ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"] {
        if let Some(count) = from.get(keyword).and_then(Value::as_u64) {
            to.insert(keyword.to_owned(), json!(count));
        }
    }
    if let Some(Value::Bool(flag)) = from.get("uniqueItems") {
        to.insert("uniqueItems".to_owned(), json!(flag));
    }
}

/// Returns the description. It also shows a pattern, because the syntax of ECMAScript can exceed that of a host.
fn description(schema: &Value, resolved: &Map<String, Value>) -> Option<String> {
    let own = schema.get("description").or_else(|| resolved.get("description")).and_then(Value::as_str);
    let mut text = paragraph(own.unwrap_or_default(), DESCRIPTION_BYTES_MAX);
    if let Some(pattern) = resolved.get("pattern").and_then(Value::as_str) {
        text = format!("{text} Pattern: {}", paragraph(pattern, PATTERN_BYTES_MAX)).trim().to_owned();
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::DocumentUse;

    const BUDGET: SchemaBudget = SchemaBudget { bytes: 4096, subschemas: 50 };

    fn document(text: &str) -> Document {
        Document::parse(text, DocumentUse::Definitions).unwrap()
    }

    fn converted(schema: &Value) -> Value {
        convert(&document("openapi: 3.0.0"), schema, BUDGET).unwrap().schema
    }

    #[test]
    fn keywords_of_3_0_are_converted() {
        let schema = json!({
            "type": "integer", "nullable": true, "minimum": 1, "exclusiveMinimum": true, "example": 2, "enum": [2, 3],
        });
        let expected = json!({ "type": ["integer", "null"], "exclusiveMinimum": 1, "enum": [2, 3, null] });
        assert_eq!(converted(&schema), expected);
    }

    #[test]
    fn invalid_keywords_are_left_out() {
        let schema =
            json!({ "type": "file", "required": true, "enum": [], "multipleOf": 0, "minLength": -1, "allOf": [] });
        assert_eq!(converted(&schema), json!({}));
    }

    #[test]
    fn read_only_properties_are_no_arguments() {
        let schema = json!({ "properties": { "id": { "readOnly": true }, "name": {} }, "required": ["id", "name"] });
        assert_eq!(converted(&schema), json!({ "properties": { "name": {} }, "required": ["name"] }));
    }

    #[test]
    fn keywords_that_are_left_out_make_no_other_keyword_stricter() {
        let schema = json!({ "patternProperties": { "^a": {} }, "additionalProperties": false, "prefixItems": [{}],
            "items": false, "multipleOf": 0.01 });
        assert_eq!(converted(&schema), json!({}));
    }

    #[test]
    fn a_recursive_schema_ends_in_any_value() {
        let text = r##"{"openapi":"3.0.0","node":{"type":"object","properties":{"next":{"$ref":"#/node"}}}}"##;
        let node = convert(&document(text), &json!({ "$ref": "#/node" }), BUDGET).unwrap();
        assert!(node.is_trimmed && node.schema.to_string().len() < 1000, "{}", node.schema);
    }

    #[test]
    fn a_schema_stays_within_its_budget() {
        let text = r##"{"openapi":"3.0.0","node":{"anyOf":[{"$ref":"#/node"},{"$ref":"#/node"},{"$ref":"#/node"}]}}"##;
        let node = convert(&document(text), &json!({ "$ref": "#/node" }), BUDGET).unwrap();
        assert!(node.is_trimmed && node.subschemas <= BUDGET.subschemas, "{}", node.schema);
        let names: Map<String, Value> = (0..1000).map(|index| (format!("n{index}"), json!({}))).collect();
        let wide = convert(&document(text), &json!({ "properties": names }), BUDGET).unwrap();
        assert_eq!((wide.schema, wide.is_trimmed), (json!({}), true));
    }

    #[test]
    fn a_remote_reference_is_refused() {
        let error =
            convert(&document("openapi: 3.1.0"), &json!({ "$ref": "https://a.example/s" }), BUDGET).unwrap_err();
        assert!(error.contains("another document"), "{error}");
    }
}
