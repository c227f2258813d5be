//! The fields of a tool that a query is compared with, by how much each says about the tool.

use super::index::{FIELDS, Field, Index};
use super::lexicon::{Lexicon, Term};
use serde_json::Value;

/// Maximum depth of a schema that is read. Deeper parts say little about the tool.
const DEPTH_MAX: usize = 12;

/// Maximum terms that are read of one field.
const FIELD_TERMS_MAX: usize = 4096;

/// The keywords that contain one or more schemas.
const NESTING: [&str; 8] = ["items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf", "then", "else"];

/// The keywords that contain schemas by names that say nothing about the tool.
const NAMING: [&str; 3] = ["patternProperties", "$defs", "definitions"];

/// The texts of a tool.
pub struct DescribedTool<'a> {
    /// The name within the plugin.
    pub name: &'a str,
    /// The title, or nothing.
    pub title: &'a str,
    /// The description.
    pub description: &'a str,
    /// The name of the plugin.
    pub plugin: &'a str,
    /// The description of the plugin.
    pub plugin_description: &'a str,
    /// The JSON Schema of the arguments.
    pub schema: &'a Value,
}

/// The index of tools. It knows them by their places.
pub fn index<'a>(tools: impl Iterator<Item = DescribedTool<'a>>) -> Index {
    let tools: Vec<_> = tools.collect();
    Index::new(&tools, of)
}

/// Returns the terms of a tool, by field.
fn of(tool: &DescribedTool<'_>, lexicon: &mut Lexicon) -> [Vec<Term>; FIELDS] {
    let mut fields = Fields { terms: Default::default(), lexicon };
    fields.put(Field::Name, tool.name);
    fields.put(Field::Title, tool.title);
    let (lead, rest) = lead(tool.description);
    fields.put(Field::Lead, lead);
    fields.put(Field::Description, rest);
    fields.put(Field::Plugin, tool.plugin);
    fields.put(Field::PluginDescription, tool.plugin_description);
    fields.schema(tool.schema, true, 0);
    fields.terms
}

/// Splits a description into its first sentence, which says what the tool does, and the rest.
fn lead(description: &str) -> (&str, &str) {
    let sentence = description.find(". ").map(|at| at + 1);
    let line = description.find('\n');
    let end = sentence.into_iter().chain(line).min().unwrap_or(description.len());
    description.split_at(end)
}

struct Fields<'a> {
    terms: [Vec<Term>; FIELDS],
    lexicon: &'a mut Lexicon,
}

impl Fields<'_> {
    fn put(&mut self, field: Field, text: &str) {
        let known = &mut self.terms[field as usize];
        self.lexicon.read(text, FIELD_TERMS_MAX, known);
    }

    fn schema(&mut self, schema: &Value, top: bool, depth: usize) {
        let Some(schema) = schema.as_object().filter(|_| depth < DEPTH_MAX) else { return };
        if depth > 0 {
            for text in ["title", "description"].iter().filter_map(|keyword| schema.get(*keyword)?.as_str()) {
                self.put(if top { Field::ParameterDescription } else { Field::Nested }, text);
            }
        }
        for value in schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const")) {
            self.put(Field::Value, value.as_str().unwrap_or_default());
        }
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.put(if depth == 0 { Field::Parameter } else { Field::Nested }, name);
            self.schema(property, depth == 0, depth + 1);
        }
        let named = NAMING.iter().filter_map(|keyword| schema.get(*keyword)?.as_object());
        named.flat_map(|named| named.values()).for_each(|schema| self.schema(schema, false, depth + 1));
        for nested in NESTING.iter().filter_map(|keyword| schema.get(*keyword)) {
            match nested {
                Value::Array(schemas) => schemas.iter().for_each(|schema| self.schema(schema, false, depth + 1)),
                Value::Object(_) => self.schema(nested, false, depth + 1),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
}
