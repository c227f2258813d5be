//! Walks a schema and a value together, and changes the value where it does not match.
//!
//! It handles the keywords that determine the type of a value, and ignores all others: the schema itself is validated
//! afterwards. Of several alternatives, it takes the first one that the value matches, and otherwise the first one that
//! it can be changed to match.

use super::convert::{convert, is_of, other_case};
use super::effort::Effort;
use portcullis::plugins::schema_parts::pointer_of;
use portcullis::provenance::Repair;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Maximum repairs per call. An approver would not read a longer list.
const CHANGES_MAX: usize = 64;

/// Maximum depth, in places and in alternatives of one place. Documents and schemas that the host accepts nest less,
/// and the stack is large enough.
const DEPTH_MAX: usize = 256;

/// The changes that are permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// None. Only checks whether a value matches.
    Nothing,
    /// Removes nulls that stand for absent members.
    Nulls,
    /// Removes such nulls and converts values.
    All,
}

/// A walk along a schema and a value.
pub(super) struct MendWalk<'a, 'e> {
    document: &'a Value,
    rules: Rules,
    effort: &'e mut Effort,
    depth: usize,
    pointer: String,
    pub(super) changes: Vec<Repair>,
}

impl<'a, 'e> MendWalk<'a, 'e> {
    pub(super) fn new(document: &'a Value, rules: Rules, effort: &'e mut Effort) -> Self {
        Self { document, rules, effort, depth: 0, pointer: String::new(), changes: Vec::new() }
    }

    /// Walks a whole document. Returns whether it matches in the end, as far as this file can tell.
    pub(super) fn root(&mut self, value: &mut Value) -> bool {
        self.place(self.document, value)
    }

    /// Walks one place of the document and everything below it.
    fn place(&mut self, schema: &'a Value, value: &mut Value) -> bool {
        self.apply(schema, schema, value)
    }

    /// Applies one of the schemas at a place. `place` is the schema that the others are part of.
    fn apply(&mut self, place: &'a Value, schema: &'a Value, value: &mut Value) -> bool {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(allowed) => return *allowed,
            _ => return false,
        };
        // Without steps, nothing matches any more, and no further change is made.
        if self.effort.steps == 0 || self.depth >= DEPTH_MAX {
            return false;
        }
        self.effort.steps -= 1;
        self.depth += 1;
        // Run every check, even after a failed one. A mismatch in one member must not keep the nulls of other members.
        let fits = [
            self.kind(members, value),
            self.listed(members, value),
            self.together(place, members, value),
            self.alternatives(place, members, value),
            self.object(place, members, value),
            self.array(members, value),
        ];
        self.depth -= 1;
        fits.iter().all(|fits| *fits)
    }

    /// `type`.
    fn kind(&mut self, members: &Map<String, Value>, value: &mut Value) -> bool {
        let kinds = match members.get("type") {
            Some(kind @ Value::String(_)) => std::slice::from_ref(kind),
            Some(Value::Array(kinds)) => kinds,
            _ => return true,
        };
        let wants = |kind: &str| kinds.iter().any(|wanted| wanted == kind);
        if kinds.iter().filter_map(Value::as_str).any(|kind| is_of(value, kind)) {
            return true;
        }
        let mendable = self.rules == Rules::All;
        match mendable.then(|| convert(value, &|kind| wants(kind) || (kind == "integer" && wants("number")))).flatten()
        {
            Some((changed, what)) => {
                *value = changed;
                self.changed(what)
            }
            None => false,
        }
    }

    /// `enum` and `const`.
    fn listed(&mut self, members: &Map<String, Value>, value: &mut Value) -> bool {
        let listed = members.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        let constant = members.get("const").map(std::slice::from_ref);
        for allowed in [listed, constant].into_iter().flatten() {
            if allowed.contains(value) {
                continue;
            }
            let other = (self.rules == Rules::All).then(|| other_case(value, allowed.iter())).flatten();
            let Some(other) = other else { return false };
            *value = other.clone();
            if !self.changed("a string was changed to the case of a listed value") {
                return false;
            }
        }
        true
    }

    /// `$ref` and `allOf`: all must match.
    fn together(&mut self, place: &'a Value, members: &'a Map<String, Value>, value: &mut Value) -> bool {
        let mut fits = true;
        if let Some(reference) = members.get("$ref") {
            let target = reference.as_str().and_then(|reference| resolve(self.document, reference));
            fits = target.is_some_and(|target| self.apply(place, target, value));
        }
        for schema in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            fits &= self.apply(place, schema, value);
        }
        fits
    }

    /// `anyOf` and `oneOf`: one must match.
    fn alternatives(&mut self, place: &'a Value, members: &'a Map<String, Value>, value: &mut Value) -> bool {
        let mut fits = true;
        for keyword in ["anyOf", "oneOf"] {
            if let Some(schemas) = members.get(keyword).and_then(Value::as_array) {
                fits &= self.one_of(place, schemas, value);
            }
        }
        fits
    }

    fn one_of(&mut self, place: &'a Value, schemas: &'a [Value], value: &mut Value) -> bool {
        if schemas.iter().any(|schema| self.fits(place, schema, value)) {
            return true;
        }
        if self.rules == Rules::Nothing {
            return false;
        }
        for schema in schemas {
            let (mut changed, mark) = (self.copy(value), self.changes.len());
            if self.apply(place, schema, &mut changed) {
                *value = changed;
                return true;
            }
            self.changes.truncate(mark);
        }
        false
    }

    /// Returns whether a value matches unchanged.
    fn fits(&mut self, place: &'a Value, schema: &'a Value, value: &Value) -> bool {
        let rules = std::mem::replace(&mut self.rules, Rules::Nothing);
        let mut copy = self.copy(value);
        let fits = self.apply(place, schema, &mut copy);
        self.rules = rules;
        fits
    }

    /// Copies a value. This costs one step for each value in it.
    fn copy(&mut self, value: &Value) -> Value {
        self.effort.steps = self.effort.steps.saturating_sub(size(value));
        value.clone()
    }

    /// `properties`, `additionalProperties` and `required`.
    fn object(&mut self, place: &'a Value, members: &'a Map<String, Value>, value: &mut Value) -> bool {
        let Value::Object(object) = value else { return true };
        let named = members.get("properties").and_then(Value::as_object);
        let others = members.get("additionalProperties").filter(|_| !members.contains_key("patternProperties"));
        let mut fits = true;
        let mut nulls = Vec::new();
        for (name, member) in object.iter_mut() {
            let declared = named.and_then(|named| named.get(name));
            let Some(schema) = declared.or(others) else { continue };
            let mark = self.enter(name);
            // A strict format forces null only on members that the schema names.
            if declared.is_some() && self.stands_for_none(place, members, schema, name, member) {
                nulls.push(name.clone());
                fits &= self.changed("a null was removed");
            } else {
                fits &= self.place(schema, member);
            }
            self.pointer.truncate(mark);
        }
        for name in nulls {
            object.remove(&name);
        }
        fits && required(members).all(|name| object.contains_key(name))
    }

    /// Returns whether a member is a null that means absence: the member is optional, and its schema does not permit
    /// null.
    fn stands_for_none(
        &mut self,
        place: &'a Value,
        members: &'a Map<String, Value>,
        schema: &'a Value,
        name: &str,
        member: &Value,
    ) -> bool {
        self.rules != Rules::Nothing
            && member.is_null()
            && !self.fits(schema, schema, member)
            && !required(members).any(|required| required == name)
            && !self.demands(place, name, DEPTH_MAX)
    }

    /// Returns whether the schemas of a place together require a member.
    fn demands(&self, schema: &'a Value, name: &str, depth: usize) -> bool {
        let Some(members) = schema.as_object().filter(|_| depth > 0) else { return false };
        let target = members.get("$ref").and_then(Value::as_str).and_then(|to| resolve(self.document, to));
        let parts = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
        required(members).any(|required| required == name)
            || parts.chain(target).any(|part| self.demands(part, name, depth - 1))
    }

    /// `prefixItems` and `items`.
    fn array(&mut self, members: &'a Map<String, Value>, value: &mut Value) -> bool {
        let Value::Array(items) = value else { return true };
        let first = members.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let others = members.get("items");
        let mut fits = true;
        for (index, item) in items.iter_mut().enumerate() {
            let Some(schema) = first.get(index).or(others) else { break };
            let mark = self.pointer.len();
            // Writing to a string cannot fail.
            let _ = write!(self.pointer, "/{index}");
            fits &= self.place(schema, item);
            self.pointer.truncate(mark);
        }
        fits
    }

    /// Appends a member to the pointer. Returns the previous length, to restore it afterwards.
    fn enter(&mut self, name: &str) -> usize {
        let mark = self.pointer.len();
        self.pointer.push('/');
        for character in name.chars() {
            match character {
                '~' => self.pointer.push_str("~0"),
                '/' => self.pointer.push_str("~1"),
                other => self.pointer.push(other),
            }
        }
        mark
    }

    /// Records a change. Returns false if there are too many.
    fn changed(&mut self, what: &str) -> bool {
        // Removed nulls need no approval, so no approver reads their list.
        let room = self.rules == Rules::Nulls || self.changes.len() < CHANGES_MAX;
        if room {
            self.changes.push(Repair { pointer: self.pointer.clone(), what: what.to_owned() });
        }
        room
    }
}

fn required(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    members.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the number of values in a value.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 1,
        Value::Object(members) => members.values().map(size).sum::<usize>() + 1,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// Resolves a reference of a schema.
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&pointer_of(root, reference)?)
}
