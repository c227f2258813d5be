//! A schema combined with everything that it refers to.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A schema combined with the schemas that it refers to, all of its parts, and one of its alternatives. Members and
/// required names add up. For other keywords, the first one counts.
#[derive(Default)]
pub(super) struct WholeSchema<'a> {
    keywords: BTreeMap<&'a str, &'a Value>,
    pub(super) members: BTreeMap<&'a str, &'a Value>,
    pub(super) required: Vec<&'a str>,
}

impl<'a> WholeSchema<'a> {
    /// Adds a schema's own keywords.
    pub(super) fn add(&mut self, schema: &'a Map<String, Value>) {
        for (keyword, value) in schema {
            self.keywords.entry(keyword).or_insert(value);
        }
        for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.members.entry(name).or_insert(member);
        }
        let required = schema.get("required").and_then(Value::as_array);
        self.required.extend(required.into_iter().flatten().filter_map(Value::as_str));
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.keywords.get(keyword).copied()
    }

    pub(super) fn count(&self, keyword: &str) -> u64 {
        self.get(keyword).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Returns the type of a value: the declared one, or one that the keywords imply.
    pub(super) fn kind(&self) -> &'a str {
        let says = |keywords: [&str; 2]| keywords.iter().any(|keyword| self.keywords.contains_key(keyword));
        match self.get("type") {
            Some(Value::String(kind)) => kind,
            Some(Value::Array(kinds)) => {
                let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
                if kinds.contains(&"null") { "null" } else { kinds.first().copied().unwrap_or("null") }
            }
            _ if says(["properties", "required"]) => "object",
            _ if says(["items", "minItems"]) => "array",
            _ if says(["minLength", "pattern"]) => "string",
            _ if says(["minimum", "exclusiveMinimum"]) => "number",
            _ => "null",
        }
    }
}
