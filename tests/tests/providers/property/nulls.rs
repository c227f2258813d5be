//! Nulls that a strict model writes for absent members: hydration removes them.

use super::bench::Bench;
use super::{corpus, hydrated};
use portcullis::plugins::Schema;
use portcullis_providers::Format;
use serde_json::{Value, json};
use std::collections::HashMap;

/// A value as a strict model writes it, and the expected result.
struct Written {
    written: Value,
    expected: Value,
    /// Number of nulls that mean "absent".
    nulls: usize,
}

#[test]
fn nulls_that_a_strict_format_requires_are_removed() {
    let cases = corpus::schemas();
    let schemas: Vec<(String, Value)> = cases.iter().map(|case| (case.name.clone(), case.schema.clone())).collect();
    let bench = Bench::of(&schemas);
    for format in Format::ALL.into_iter().filter(|format| format.is_strict()) {
        let mut undone = 0;
        for (tool, case) in bench.tools.iter().zip(&cases) {
            let Some(exported) = tool.exported(format).unwrap() else { continue };
            let root = tool.schema.document();
            let mut compiled = HashMap::new();
            for value in &case.valid {
                let Written { written, expected, nulls } = written(root, root, value, &mut compiled);
                let call = hydrated(&bench, format, tool, &written);
                let after: Value = serde_json::from_str(&call.arguments).unwrap();
                let what = format!("{format}, {}: {written}\n{root}", tool.label);
                assert_eq!(after, expected, "{what}");
                assert_eq!(tool.schema.mismatches(&after), Vec::new(), "{what}");
                assert_eq!(call.provenance.nulls.len(), nulls, "{what}");
                assert!(!call.provenance.is_repaired(), "{what}");
                // Of parts that must all match, the export may omit what one of them forbids. One provider lets a model
                // omit optional members.
                let is_whole = exported.strict && exported.lossless && !root.to_string().contains("\"allOf\"");
                if is_whole && format != Format::AnthropicStrict {
                    // Otherwise a strict model could not have written it.
                    assert!(exported.allows(&written), "{what}\n{}", exported.document);
                }
                undone += nulls;
            }
        }
        assert!(undone > 20, "{format}: only {undone} nulls were written");
    }
}

/// Adds a null for each optional property that is absent. If the author allows null there, the null is an ordinary
/// value and also stays in the expected result.
fn written(root: &Value, schema: &Value, value: &Value, compiled: &mut HashMap<String, Schema>) -> Written {
    let mut at = Written { written: value.clone(), expected: value.clone(), nulls: 0 };
    match schema.get("$ref").and_then(Value::as_str).and_then(|reference| root.pointer(reference.strip_prefix('#')?)) {
        Some(target) if schema.as_object().is_some_and(|schema| schema.len() == 1) => {
            return written(root, target, value, compiled);
        }
        Some(_) | None => {}
    }
    for keyword in ["anyOf", "oneOf"] {
        let branches = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let mut fitting = branches.filter(|branch| allows(root, branch, value, compiled));
        // If two alternatives match, it is unknown which one the model meant.
        if let (Some(branch), None, false) = (fitting.next(), fitting.next(), schema.get("properties").is_some()) {
            return written(root, branch, value, compiled);
        }
    }
    if let (Some(items), Value::Array(values)) = (schema.get("items"), value) {
        let prefix = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        for (place, value) in values.iter().enumerate().skip(prefix) {
            at.put(&json!(place), written(root, items, value, compiled));
        }
    }
    let (Some(properties), Value::Object(members)) = (schema.get("properties").and_then(Value::as_object), value)
    else {
        return at;
    };
    let required = schema.get("required").cloned().unwrap_or(json!([]));
    for (name, schema) in properties {
        if let Some(value) = members.get(name) {
            at.put(&json!(name), written(root, schema, value, compiled));
        } else if !required.as_array().unwrap().contains(&json!(name)) && *schema != json!(false) {
            at.written[name] = Value::Null;
            if allows(root, schema, &Value::Null, compiled) {
                at.expected[name] = Value::Null;
            } else {
                at.nulls += 1;
            }
        }
    }
    at
}

impl Written {
    fn put(&mut self, place: &Value, inner: Self) {
        for (whole, part) in [(&mut self.written, inner.written), (&mut self.expected, inner.expected)] {
            match place {
                Value::String(name) => whole[name] = part,
                place => whole[usize::try_from(place.as_u64().unwrap()).unwrap()] = part,
            }
        }
        self.nulls += inner.nulls;
    }
}

/// Returns whether part of a schema allows a value.
fn allows(root: &Value, part: &Value, value: &Value, compiled: &mut HashMap<String, Schema>) -> bool {
    let mut document = json!({"$defs": {"root": below(root)}, "allOf": [below(part)]});
    for keyword in ["$schema", "$id"] {
        document["$defs"]["root"].as_object_mut().unwrap().remove(keyword);
    }
    let document = document.to_string();
    let compile = || Schema::of_document(&document).unwrap();
    compiled.entry(document.clone()).or_insert_with(compile).mismatches(value).is_empty()
}

/// Builds a schema for a subschema, whose references are resolved in the original root.
fn below(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let moved = |(keyword, value): (&String, &Value)| {
                let fragment = value.as_str().filter(|_| keyword == "$ref").and_then(|text| text.strip_prefix('#'));
                let pointer = fragment.filter(|fragment| fragment.is_empty() || fragment.starts_with('/'));
                let value = pointer.map_or_else(|| below(value), |pointer| json!(format!("#/$defs/root{pointer}")));
                (keyword.clone(), value)
            };
            members.iter().map(moved).collect()
        }
        Value::Array(items) => items.iter().map(below).collect(),
        _ => schema.clone(),
    }
}
