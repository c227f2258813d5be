//! Counts what providers limit in a strict schema.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Maximum properties of one schema.
const PROPERTIES_MAX: usize = 5000;

/// Maximum nesting of objects and arrays.
const LEVELS_MAX: usize = 10;

/// Maximum characters of all names of properties and definitions and all listed values.
const CHARACTERS_MAX: usize = 120_000;

/// Maximum listed values of one schema.
const VALUES_MAX: usize = 1000;

/// Number of listed values above which their total length is limited.
const LONG_ENUM_FROM: usize = 250;

/// Maximum characters of such a list.
const LONG_ENUM_CHARACTERS_MAX: usize = 15_000;

/// The counts of an exported schema.
#[derive(Debug, Default)]
pub(in crate::export) struct ExportCensus {
    /// Optional properties.
    pub(in crate::export) optional: usize,
    /// Properties with more than one type.
    pub(in crate::export) unions: usize,
    properties: usize,
    levels: usize,
    characters: usize,
    values: usize,
    long: bool,
}

impl ExportCensus {
    /// Counts a schema.
    pub(in crate::export) fn of(schema: &Value) -> Self {
        let mut census = Self::default();
        census.visit(schema, 0);
        census
    }

    /// Returns why OpenAI would refuse the schema.
    pub(super) fn beyond_openai(&self) -> Option<String> {
        let counts = [
            (self.properties, PROPERTIES_MAX, "properties"),
            (self.levels, LEVELS_MAX, "levels"),
            (self.characters, CHARACTERS_MAX, "characters of names and values"),
            (self.values, VALUES_MAX, "listed values"),
        ];
        if let Some((_, most, what)) = counts.into_iter().find(|(count, most, _)| count > most) {
            return Some(format!("a strict schema has at most {most} {what}"));
        }
        let long =
            || format!("more than {LONG_ENUM_FROM} listed values have at most {LONG_ENUM_CHARACTERS_MAX} characters");
        self.long.then(long)
    }

    fn visit(&mut self, schema: &Value, level: usize) {
        let Value::Object(members) = schema else { return };
        let nests = members.contains_key("properties") || members.contains_key("items");
        let level = level + usize::from(nests);
        self.levels = self.levels.max(level);
        self.count_values(members);
        if let Some(Value::Object(named)) = members.get("properties") {
            let required = members.get("required").and_then(Value::as_array);
            let required: BTreeSet<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
            self.properties += named.len();
            for (name, property) in named {
                self.characters += name.chars().count();
                self.optional += usize::from(!required.contains(name.as_str()));
                self.unions += usize::from(property.get("anyOf").is_some() || property["type"].is_array());
                self.visit(property, level);
            }
        }
        if let Some(Value::Object(named)) = members.get("$defs") {
            self.characters += named.keys().map(|name| name.chars().count()).sum::<usize>();
            named.values().for_each(|definition| self.visit(definition, 0));
        }
        for branch in members.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
            self.visit(branch, level);
        }
        if let Some(items) = members.get("items") {
            self.visit(items, level);
        }
    }

    fn count_values(&mut self, members: &Map<String, Value>) {
        let Some(values) = members.get("enum").and_then(Value::as_array) else { return };
        let texts = values.iter().filter_map(Value::as_str);
        let characters: usize = texts.map(|text| text.chars().count()).sum();
        self.values += values.len();
        self.characters += characters;
        self.long |= values.len() > LONG_ENUM_FROM && characters > LONG_ENUM_CHARACTERS_MAX;
    }
}
