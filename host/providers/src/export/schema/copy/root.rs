//! Copies the root of a schema, where providers refuse more keywords.

use super::super::keywords::is_structure;
use super::super::words::Words;
use super::{Copier, INLINED_SUBSCHEMAS_MAX, ReferenceTarget, below, down};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Keywords that can require specific members of an object, or a number of them.
const CONDITIONS: [&str; 9] =
    ["allOf", "anyOf", "dependentRequired", "dependentSchemas", "else", "if", "minProperties", "oneOf", "then"];

impl<'a> Copier<'a, '_> {
    /// Returns the copy of the whole schema, or none if the provider does not accept the name of a required argument.
    pub(in crate::export::schema) fn whole(&mut self) -> Option<Map<String, Value>> {
        let root = self.references.root().as_object()?;
        let mut copy = self.object(root, "", 0);
        let mut words = Words::default();
        if self.touches.root_refuses.contains(&"allOf") {
            self.conjuncts(&mut copy, &mut words);
        }
        for keyword in self.touches.root_refuses {
            if let Some(value) = copy.remove(*keyword) {
                words.say("", keyword, &value, self.notes);
            }
        }
        words.write(&mut copy);
        if self.touches.explicit {
            copy.entry("properties").or_insert_with(|| json!({}));
        }
        self.names(&mut copy)?;
        self.definitions(&mut copy);
        Some(copy)
    }

    /// Moves the properties of the root's parts to the root itself. The result means the same.
    fn conjuncts(&mut self, copy: &mut Map<String, Value>, words: &mut Words) {
        let root = self.references.root();
        copy.remove("allOf");
        if let Some(text) = root.get("$ref").filter(|_| self.touches.inlines) {
            self.conjunct_referred(copy, text, "", words);
        }
        self.conjunct_all(copy, root.get("allOf"), "", words);
    }

    fn conjunct_all(&mut self, copy: &mut Map<String, Value>, parts: Option<&'a Value>, at: &str, words: &mut Words) {
        let Some(Value::Array(parts)) = parts else { return };
        for (place, part) in parts.iter().enumerate() {
            let at = below(at, "allOf", &place.to_string());
            self.conjunct(copy, &ReferenceTarget { schema: part, at }, words);
        }
    }

    fn conjunct_referred(&mut self, copy: &mut Map<String, Value>, text: &Value, at: &str, words: &mut Words) {
        match self.references.resolve(text) {
            // References at one place never form a cycle, because the host refuses such a schema. A part that several
            // parts refer to means the same each time.
            Some(target) if !self.within.contains(&target.at) => {
                self.within.push(target.at.clone());
                self.conjunct(copy, &target, words);
            }
            Some(_) | None => self.notes.add(at, "$ref", "left out: it is already included"),
        }
    }

    fn conjunct(&mut self, copy: &mut Map<String, Value>, part: &ReferenceTarget<'a>, words: &mut Words) {
        let Value::Object(members) = part.schema else {
            words.say(&part.at, "allOf", part.schema, self.notes);
            return;
        };
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => self.adopt(copy, named, &down(&part.at, "properties")),
                ("required", Value::Array(names)) => require(copy, names),
                ("$ref", text) => self.conjunct_referred(copy, text, &part.at, words),
                ("allOf", parts) => self.conjunct_all(copy, Some(parts), &part.at, words),
                ("type", Value::String(word)) if word == "object" => {}
                ("description", Value::String(text)) => super::append(copy, text),
                _ if is_structure(keyword) => {}
                _ => words.say(&part.at, keyword, value, self.notes),
            }
        }
    }

    fn adopt(&mut self, copy: &mut Map<String, Value>, named: &'a Map<String, Value>, at: &str) {
        for (name, property) in named {
            let said = self.schema(property, &down(at, name), 1);
            let Some(Value::Object(properties)) = Some(copy.entry("properties").or_insert_with(|| json!({}))) else {
                continue;
            };
            match properties.get(name) {
                Some(same) if *same == said => {}
                Some(_) => {
                    self.notes.add(&down(at, name), "properties", "left out: another part of the schema defines it");
                }
                None => {
                    self.adopted.insert(name.clone(), down(at, name));
                    properties.insert(name.clone(), said);
                }
            }
        }
    }

    /// Removes arguments whose names the provider does not accept.
    fn names(&mut self, copy: &mut Map<String, Value>) -> Option<()> {
        let required = copy.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(Value::Object(properties)) = copy.get_mut("properties") else { return Some(()) };
        let refused: Vec<String> = properties.keys().filter(|name| !(self.touches.names)(name)).cloned().collect();
        let mut left_out = false;
        for name in refused {
            let at = below("", "properties", &name);
            if required.contains(&json!(name)) {
                self.notes.add(
                    &at,
                    "required",
                    "the tool was left out: the provider does not accept the name of a required argument",
                );
                return None;
            }
            self.notes.add(&at, "properties", "left out: the provider does not accept its name");
            properties.remove(&name);
            left_out = true;
        }
        if left_out {
            // A condition on a removed argument could never be met.
            let mut words = Words::default();
            for keyword in CONDITIONS {
                if let Some(value) = copy.remove(keyword) {
                    words.say("", keyword, &value, self.notes);
                }
            }
            words.write(copy);
        }
        Some(())
    }

    /// Adds the referenced schemas whose place is missing in the copy.
    fn definitions(&mut self, copy: &mut Map<String, Value>) {
        let mut moved = BTreeMap::new();
        while let Some((name, target)) = self.waiting.pop() {
            let schema = if self.inlined < INLINED_SUBSCHEMAS_MAX {
                // The schema then counts toward the limit, as the target of a replaced reference does.
                self.within.push(target.at.clone());
                let schema = self.schema(target.schema, &target.at, 1);
                self.within.pop();
                schema
            } else {
                self.notes.add(&target.at, "$ref", "any value: the schema would become too large");
                json!({})
            };
            moved.insert(name, schema);
        }
        if moved.is_empty() {
            return;
        }
        if let Value::Object(definitions) = copy.entry("$defs").or_insert_with(|| json!({})) {
            definitions.extend(moved);
        }
    }
}

fn require(copy: &mut Map<String, Value>, names: &[Value]) {
    let required = copy.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        for name in names {
            if !required.contains(name) {
                required.push(name.clone());
            }
        }
    }
}
