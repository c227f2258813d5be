//! Flattens a schema for a provider that keeps only each argument's type, items, listed values and description.
//! Everything else moves to the description.

use super::copy::{Copier, Touches};
use super::keywords::is_structure;
use super::kinds::Kinds;
use super::pointer::below;
use super::references::References;
use super::words::{Words, append};
use crate::definitions::Defined;
use crate::export::notes::Notes;
use serde_json::{Map, Value, json};

/// Maximum references to follow to find the place of a loss.
const FOLLOWED_MAX: usize = 16;

/// Returns the flat schema of a tool, and the text to add to the tool's description.
pub(in crate::export) fn flattened(tool: &Defined, notes: &mut Notes) -> (Value, String) {
    let schema = tool.offer.tool.schema().document();
    let mut copier = Copier::new(schema, Touches::INLINED, notes);
    let Some(mut root) = copier.whole() else {
        return (json!({ "type": "object", "properties": {} }), String::new());
    };
    let adopted = std::mem::take(&mut copier.adopted);
    let properties = match root.remove("properties") {
        Some(Value::Object(properties)) => properties,
        Some(_) | None => Map::new(),
    };
    let mut flat = Map::new();
    flat.insert("type".to_owned(), json!("object"));
    flat.extend(root.remove("required").map(|required| ("required".to_owned(), required)));
    root.remove("type");
    let mut words = Words::default();
    let described = root.remove("description");
    for (keyword, value) in &root {
        match keyword.as_str() {
            keyword if is_structure(keyword) => {}
            "title" => notes.add("", "title", "left out"),
            // The host refuses additional arguments, and models rarely write them.
            "additionalProperties" if value.is_boolean() => {
                if *value == Value::Bool(false) {
                    notes.add("", keyword, "left out: the export does not forbid other properties");
                }
            }
            _ => words.say("", keyword, value, notes),
        }
    }
    let references = References::of(schema);
    let mut named = Map::new();
    for (name, property) in properties {
        let at = adopted.get(&name).cloned().unwrap_or_else(|| below("", "properties", &name));
        match property {
            Value::Object(members) => {
                drop(named.insert(name, Value::Object(argument(members, &at, &references, notes))))
            }
            Value::Bool(false) => notes.add(&at, "properties", "left out: the export does not forbid it"),
            _ => drop(named.insert(name, json!({}))),
        }
    }
    require_named(&mut flat, &mut named);
    flat.insert("properties".to_owned(), Value::Object(named));
    let mut texts = Map::from_iter(described.map(|text| ("description".to_owned(), text)));
    words.write(&mut texts);
    let words = texts.get("description").and_then(Value::as_str).map(|text| format!("Arguments: {text}"));
    (Value::Object(flat), words.unwrap_or_default())
}

/// Returns the place of an argument's keyword: in the argument itself, or in one of the parts that it is merged from.
/// For a part behind a reference, that is the referenced place.
fn origin(references: &References<'_>, at: &str, keyword: &str, followed: usize) -> Option<(String, String)> {
    let members = references.root().pointer(at).and_then(Value::as_object).filter(|_| followed < FOLLOWED_MAX)?;
    if members.contains_key(keyword) {
        return Some((at.to_owned(), keyword.to_owned()));
    }
    let referred = members.get("$ref").and_then(|text| references.resolve(text));
    let below_it = |part: &str| {
        let parts = members.get(part).and_then(Value::as_array).map_or(0, Vec::len);
        (0..parts).find_map(|place| origin(references, &below(at, part, &place.to_string()), keyword, followed + 1))
    };
    referred
        .and_then(|target| origin(references, &target.at, keyword, followed + 1))
        .or_else(|| ["allOf", "anyOf", "oneOf"].into_iter().find_map(below_it))
        .or_else(|| members.contains_key("$ref").then(|| (at.to_owned(), "$ref".to_owned())))
}

/// Adds an empty property for each required name without one, because some providers fail otherwise.
fn require_named(flat: &mut Map<String, Value>, named: &mut Map<String, Value>) {
    for name in flat.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        named.entry(name).or_insert_with(|| json!({}));
    }
}

/// Flattens one argument.
fn argument(
    mut members: Map<String, Value>,
    at: &str,
    references: &References<'_>,
    notes: &mut Notes,
) -> Map<String, Value> {
    merged(&mut members);
    nullable(&mut members);
    types(&mut members);
    let mut flat = Map::new();
    let mut words = Words::default();
    let kinds = members.get("type").map_or(Kinds::ALL, Kinds::of_type);
    if let Some(value) = members.remove("const") {
        // A list of one value means the same.
        members.entry("enum").or_insert_with(|| json!([value]));
    }
    for (keyword, value) in members {
        match keyword.as_str() {
            "type" | "items" | "description" | "enum" => drop(flat.insert(keyword, value)),
            keyword if is_structure(keyword) => {}
            // A keyword for values of other types has no effect.
            keyword if !Kinds::of_keyword(keyword).meets(kinds) => {}
            _ => {
                let (at, lost) =
                    origin(references, at, &keyword, 0).unwrap_or_else(|| (at.to_owned(), keyword.clone()));
                words.say_for(&at, &lost, &keyword, &value, notes);
            }
        }
    }
    words.write(&mut flat);
    flat
}

/// Replaces a union of a schema and null with that schema, with null among its types and values.
fn nullable(members: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = members.get(keyword) else { continue };
        let is_null = |branch: &Value| *branch == json!({ "type": "null" });
        let (null, rest): (Vec<&Value>, Vec<&Value>) = branches.iter().partition(|branch| is_null(branch));
        let ([_], [Value::Object(one)]) = (null.as_slice(), rest.as_slice()) else { continue };
        let kind = one.get("type").filter(|kind| kind.is_string() && *kind != "null").cloned();
        // Of a keyword that both have, one value would be lost.
        let apart = one.keys().all(|key| key == "description" || !members.contains_key(key));
        let (Some(kind), true) = (kind, apart) else { continue };
        let mut one = one.clone();
        members.remove(keyword);
        one.insert("type".to_owned(), json!([kind, "null"]));
        if let Some(Value::Array(values)) = one.get_mut("enum") {
            values.push(Value::Null);
        }
        if let Some(value) = one.remove("const") {
            one.insert("enum".to_owned(), Value::Array(vec![value, Value::Null]));
        }
        let below = one.remove("description");
        members.extend(one);
        append(members, below.as_ref().and_then(Value::as_str).unwrap_or_default());
    }
}

/// Merges the parts of `allOf` that have no keywords in common.
fn merged(members: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = members.remove("allOf") else { return };
    let mut left = Vec::new();
    for part in parts {
        match part {
            Value::Object(mut part) if part.keys().all(|key| key == "description" || !members.contains_key(key)) => {
                let described = part.remove("description");
                members.extend(part);
                append(members, described.as_ref().and_then(Value::as_str).unwrap_or_default());
            }
            Value::Bool(true) => {}
            part => left.push(part),
        }
    }
    if !left.is_empty() {
        let kind = left.iter().find_map(|part| part.get("type")).cloned();
        members.insert("allOf".to_owned(), Value::Array(left));
        if let Some(kind) = kind {
            members.entry("type").or_insert(kind);
        }
    }
}

/// Replaces alternatives that have only a type with a list of types.
fn types(members: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = members.get(keyword) else { continue };
        let plain = |branch: &Value| {
            let only = branch.as_object().filter(|members| members.len() == 1)?;
            only.get("type").filter(|kind| kind.is_string()).cloned()
        };
        let typed = |branch: &Value| branch.get("type").filter(|kind| kind.is_string()).cloned();
        let only = branches.iter().map(plain).collect::<Option<Vec<Value>>>();
        let Some(mut kinds) = branches.iter().map(typed).collect::<Option<Vec<Value>>>() else { continue };
        // An integer matches both types, which `oneOf` refuses. A list of types would accept it.
        let both_numbers = kinds.contains(&json!("number")) && kinds.contains(&json!("integer"));
        if members.contains_key("type") {
            continue;
        }
        if only.is_none() || (keyword == "oneOf" && both_numbers) {
            // These are the types of all alternatives. The rest moves to the description.
            kinds.sort_by_key(Value::to_string);
            kinds.dedup();
            let kind = if let [one] = kinds.as_slice() { one.clone() } else { Value::Array(kinds) };
            members.insert("type".to_owned(), kind);
            continue;
        }
        let mut seen = Vec::new();
        kinds.retain(|kind| {
            !seen.contains(kind) && {
                seen.push(kind.clone());
                true
            }
        });
        // Two alternatives of one type refuse each value of that type. A list of types would accept it.
        if keyword == "oneOf" && kinds.len() != branches.len() {
            continue;
        }
        members.remove(keyword);
        members.insert("type".to_owned(), Value::Array(kinds));
    }
}
