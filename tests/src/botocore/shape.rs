//! Converts the shape of an operation's arguments to a JSON Schema.

use super::model::{Model, members, text};
use super::prose;
use serde_json::{Value, json};

/// Depth to which objects are described: the arguments, their members, and the members of those.
const DEPTH_MAX: usize = 3;

/// Maximum length of a schema in bytes: half of the host's limit. A longer schema is described less deeply.
const SCHEMA_BYTES_MAX: usize = 32 * 1024;

/// Maximum length of an argument's description in bytes.
const DESCRIPTION_BYTES_MAX: usize = 512;

/// Maximum number of enumeration values: there are a thousand machine types alone.
const ENUM_VALUES_MAX: usize = 64;

/// Returns the schema of arguments with this shape, as deep as it fits.
pub(super) fn schema(model: &Model, shape: Option<&str>) -> Value {
    let Some(shape) = shape else { return json!({ "type": "object", "properties": {} }) };
    let described = (1..=DEPTH_MAX).rev().map(|depth| Shapes { model, depth }.object(model.shape(shape), 1));
    let fitting = described.into_iter().find(|schema| schema.to_string().len() <= SCHEMA_BYTES_MAX);
    fitting.unwrap_or_else(|| panic!("{shape} does not fit"))
}

/// The shapes of a service, described down to this depth.
struct Shapes<'a> {
    model: &'a Model,
    depth: usize,
}

impl Shapes<'_> {
    /// Returns the schema of a member, an item or a value, which refers to a shape and may have its own documentation.
    fn reference(&self, reference: &Value, depth: usize) -> Value {
        let shape = self.model.shape(text(reference, "shape"));
        let mut schema = self.shape(shape, depth);
        let own = prose::plain(text(reference, "documentation"), DESCRIPTION_BYTES_MAX);
        let description = match own.is_empty() {
            true => prose::plain(text(shape, "documentation"), DESCRIPTION_BYTES_MAX),
            false => own,
        };
        if !description.is_empty() {
            schema["description"] = Value::String(description);
        }
        schema
    }

    fn shape(&self, shape: &Value, depth: usize) -> Value {
        match text(shape, "type") {
            "structure" if shape.get("document").is_some() => json!({}),
            "structure" if depth < self.depth => self.object(shape, depth + 1),
            "structure" => json!({ "type": "object" }),
            "list" => json!({ "type": "array", "items": self.reference(&shape["member"], depth) }),
            "map" => json!({ "type": "object", "additionalProperties": self.reference(&shape["value"], depth) }),
            "string" => string(shape),
            "boolean" => json!({ "type": "boolean" }),
            "integer" | "long" => json!({ "type": "integer" }),
            "float" | "double" => json!({ "type": "number" }),
            "timestamp" => json!({ "type": "string", "format": "date-time" }),
            "blob" => json!({ "type": "string", "contentEncoding": "base64" }),
            kind => panic!("a shape of type {kind:?}"),
        }
    }

    fn object(&self, shape: &Value, depth: usize) -> Value {
        let properties = members(shape, "members").iter();
        let properties = properties.map(|(name, member)| (name.clone(), self.reference(member, depth)));
        let mut schema = json!({ "type": "object", "properties": Value::Object(properties.collect()) });
        if let Some(required) = shape.get("required").filter(|required| **required != json!([])) {
            schema["required"] = required.clone();
        }
        schema
    }
}

fn string(shape: &Value) -> Value {
    let listed = shape.get("enum").filter(|values| values.as_array().is_some_and(|all| all.len() <= ENUM_VALUES_MAX));
    match listed {
        Some(values) => json!({ "type": "string", "enum": values }),
        None => json!({ "type": "string" }),
    }
}
