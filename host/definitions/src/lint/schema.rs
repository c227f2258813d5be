//! Lints for the schema of a tool's arguments: every parameter at every depth, including references.

use super::finding::{LintFindings, PARAMETER_CHARS_MAX, Rule};
use super::phrases;
use crate::manifest::Definition;
use crate::schema::parts::{down, pointer_of};
use portcullis_policy::json;
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};

/// Maximum length of a chain of references.
const REFERENCES_MAX: usize = 16;

/// Maximum length of a parameter's name, in bytes. Gemini accepts no longer names.
const NAME_BYTES_MAX: usize = 64;

/// Keywords whose schemas apply to the same value.
const SAME: [&str; 7] = ["allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];

/// Keywords whose schemas apply to parts of the value.
const PARTS: [&str; 6] =
    ["items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties", "patternProperties"];

/// A schema that has to be checked.
struct LintedSchema<'a> {
    pointer: String,
    schema: &'a Value,
    /// Parameters of the same value that were checked elsewhere.
    known: BTreeSet<&'a str>,
}

/// Checks the schemas of a tool.
pub(super) fn look(found: &mut LintFindings, tool: &Definition) {
    if tool.schema.trim().is_empty() {
        found.note(Rule::NoSchema, "", "it has no schema".to_owned());
    } else if let Ok(root) = json::parse(&tool.schema) {
        // Invalid JSON is an error of the definition, not a lint.
        if !is_closed(&root) {
            found.note(Rule::OpenSchema, "", "its schema allows arguments with any other name".to_owned());
        }
        parameters(found, &root);
        texts(found, &root, "its schema");
    }
    if let Some(Ok(output)) = tool.output_schema.as_deref().map(json::parse) {
        texts(found, &output, "its output schema");
    }
}

fn is_closed(root: &Value) -> bool {
    let closes = |schema: &Value, keyword: &str| schema.get(keyword) == Some(&Value::Bool(false));
    let closed = |schema: &Value| closes(schema, "additionalProperties") || closes(schema, "unevaluatedProperties");
    referred(root, root).any(closed)
}

/// Returns a schema, the schema that it refers to, and so on.
fn referred<'a>(schema: &'a Value, root: &'a Value) -> impl Iterator<Item = &'a Value> {
    std::iter::successors(Some(schema), |schema| target(schema, root).map(|(_, target)| target)).take(REFERENCES_MAX)
}

/// Resolves a reference within the document. Returns the target and its JSON Pointer.
fn target<'a>(schema: &Value, root: &'a Value) -> Option<(String, &'a Value)> {
    let pointer = pointer_of(root, schema.get("$ref")?.as_str()?)?;
    let target = root.pointer(&pointer)?;
    Some((pointer, target))
}

/// Checks every parameter once, at its place.
fn parameters(found: &mut LintFindings, root: &Value) {
    let mut seen = BTreeSet::new();
    let mut places = VecDeque::from([LintedSchema { pointer: String::new(), schema: root, known: BTreeSet::new() }]);
    while let Some(LintedSchema { pointer, schema, mut known }) = places.pop_front() {
        // No gate has checked this schema, so its references may form a cycle.
        if !seen.insert(pointer.clone()) {
            continue;
        }
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let at = down(&down(&pointer, "properties"), name);
            parameter(found, &at, name, property, root, known.contains(name.as_str()));
            known.insert(name);
            places.push_back(LintedSchema { pointer: at, schema: property, known: BTreeSet::new() });
        }
        for (pointer, schema) in PARTS.iter().flat_map(|keyword| under(&pointer, schema, keyword)) {
            places.push_back(LintedSchema { pointer, schema, known: BTreeSet::new() });
        }
        for (pointer, schema) in SAME.iter().flat_map(|keyword| under(&pointer, schema, keyword)) {
            places.push_back(LintedSchema { pointer, schema, known: known.clone() });
        }
        if let Some((pointer, schema)) = target(schema, root) {
            places.push_back(LintedSchema { pointer, schema, known });
        }
    }
}

/// Returns the schemas under a keyword, which can be a list, a map or a single schema.
fn under<'a>(pointer: &str, schema: &'a Value, keyword: &str) -> Vec<(String, &'a Value)> {
    let at = down(pointer, keyword);
    match (schema.get(keyword), keyword) {
        (Some(Value::Array(schemas)), _) => {
            schemas.iter().enumerate().map(|(index, schema)| (down(&at, &index.to_string()), schema)).collect()
        }
        (Some(Value::Object(schemas)), "patternProperties" | "dependentSchemas") => {
            schemas.iter().map(|(name, schema)| (down(&at, name), schema)).collect()
        }
        (Some(schema), _) => vec![(at, schema)],
        (None, _) => Vec::new(),
    }
}

fn parameter(found: &mut LintFindings, at: &str, name: &str, property: &Value, root: &Value, known: bool) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty()
        || name.len() > NAME_BYTES_MAX
        || name.starts_with(|first: char| first.is_ascii_digit())
        || !name.bytes().all(plain)
    {
        found.note(Rule::ParameterName, at, format!("the parameter {name} has a name that not every provider accepts"));
    }
    if !known && !is_described(property, root, REFERENCES_MAX) {
        found.note(Rule::NoParameterDescription, at, format!("the parameter {name} has no description"));
    }
    let length = property.get("description").and_then(Value::as_str).unwrap_or_default().chars().count();
    if length > PARAMETER_CHARS_MAX {
        let what = format!("the description of {name} has {length} characters, more than {PARAMETER_CHARS_MAX}");
        found.note(Rule::LongParameterDescription, at, what);
    }
}

/// Returns whether a schema has a description: its own, that of a schema that it refers to, or that of one of its
/// parts.
fn is_described(schema: &Value, root: &Value, depth: usize) -> bool {
    let own = |schema: &Value| {
        schema.get("description").and_then(Value::as_str).is_some_and(|description| !description.trim().is_empty())
    };
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
    let mut parts = lists.flatten();
    referred(schema, root).any(own) || depth > 0 && parts.any(|part| is_described(part, root, depth - 1))
}

/// Checks every text and name of a schema, because a model reads all of them.
fn texts(found: &mut LintFindings, root: &Value, of: &str) {
    let mut places = VecDeque::from([(String::new(), root)]);
    while let Some((at, value)) = places.pop_front() {
        let mut note = |at: &str, phrase: Option<&str>| {
            if let Some(phrase) = phrase {
                found.note(Rule::Instruction, at, format!("{of} says `{phrase}`"));
            }
        };
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => note(&at, phrases::in_text(text)),
            Value::Array(items) => {
                places.extend(items.iter().enumerate().map(|(index, item)| (down(&at, &index.to_string()), item)));
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let at = down(&at, name);
                    note(&at, phrases::in_name(name));
                    places.push_back((at, member));
                }
            }
        }
    }
}
