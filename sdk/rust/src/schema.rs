//! JSON Schemas of arguments and outputs: 2020-12, closed objects, and no keywords that do not help a model.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Returns the schema of a tool's arguments. Its root is an object.
///
/// # Panics
/// The type is anything but an object. `describe` then traps, and `testing::check` fails before a host sees it.
pub(crate) fn of_arguments<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_deserialize());
    // The schema of an enum of structs has `oneOf` and no type at its root, though each variant is an object.
    if let Some(root) = schema.as_object_mut() {
        root.entry("type").or_insert_with(|| "object".into());
    }
    assert!(schema["type"] == "object", "the arguments of a tool are an object: take a struct with named fields");
    schema
}

/// Returns the schema of a tool's JSON output.
pub(crate) fn of_output<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    RecursiveTransform(drop_number_formats).transform(&mut schema);
    let mut schema = schema.to_value();
    close_objects(&mut schema, Reach::Whole);
    schema
}

/// The keywords that combine schemas.
const COMBINATORS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// The keywords that say whether an object takes fields beyond those it names.
const OPENNESS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "patternProperties"];

/// Whether a schema describes whole objects, or only a part of the object that its parent schema describes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Whole,
    Part,
}

/// Makes objects refuse unknown fields, so that a misspelt argument is an error. An author can allow them with
/// `#[schemars(extend("additionalProperties" = true))]`.
fn close_objects(schema: &mut Value, reach: Reach) {
    let Some(object) = schema.as_object_mut() else { return };
    let is_composed = COMBINATORS.iter().any(|keyword| object.contains_key(*keyword));
    let has_fields = object.contains_key("properties");
    let is_object = has_fields || object.get("type").is_some_and(|kind| kind == "object");
    let says_itself = OPENNESS.iter().any(|keyword| object.contains_key(*keyword));
    if is_object && reach == Reach::Whole && !says_itself && (has_fields || !is_composed) {
        // Next to a combinator, only `unevaluatedProperties` considers the fields that its branches name.
        let keyword = if is_composed { "unevaluatedProperties" } else { "additionalProperties" };
        object.insert(keyword.to_owned(), Value::Bool(false));
    }
    for (keyword, value) in object.iter_mut() {
        let branch = if has_fields { Reach::Part } else { reach };
        match keyword.as_str() {
            "allOf" | "anyOf" | "oneOf" => each(value, branch),
            "properties" | "$defs" | "prefixItems" | "patternProperties" => each(value, Reach::Whole),
            "items" | "additionalProperties" => close_objects(value, Reach::Whole),
            _ => {}
        }
    }
}

fn each(schemas: &mut Value, reach: Reach) {
    match schemas {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| close_objects(schema, reach)),
        Value::Object(schemas) => schemas.values_mut().for_each(|schema| close_objects(schema, reach)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes number formats such as `uint32`. They are not formats of JSON Schema, and the bounds say the same.
fn drop_number_formats(schema: &mut Schema) {
    let is_number = |format: &str| ["int", "uint", "float", "double"].iter().any(|name| format.starts_with(name));
    if schema.get("format").and_then(Value::as_str).is_some_and(is_number) {
        schema.remove("format");
    }
}
