//! The shape of an operation's arguments as a JSON Schema.

use super::model::{Model, members, text};
use super::prose;
use serde_json::{Value, json};

/// How deep objects are described: the arguments, what they hold, and what that holds.
const DEPTH_MAX: usize = 3;

/// The longest schema, in bytes: half of what the host takes. A longer one is described less deep.
const SCHEMA_BYTES_MAX: usize = 32 * 1024;

/// The longest description of an argument, in bytes.
const DESCRIPTION_BYTES_MAX: usize = 512;

/// The most values that are listed: the types of machines alone are a thousand.
const ENUM_VALUES_MAX: usize = 64;

/// The schema of the arguments of this shape, as deep as it fits.
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
    /// The schema of a member, an item or a value, which refers to a shape and may have words of its own.
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
