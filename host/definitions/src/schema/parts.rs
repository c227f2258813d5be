//! The structure of a JSON Schema: its subschemas and the targets of its references. Checking, exporting and repairing
//! all walk a schema with this module.

use serde_json::{Map, Value};

/// Keywords whose value is one schema.
pub const ONE: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
pub const MANY: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords whose value is a map of schemas by name.
pub const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The position of a schema below its keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The keyword has only this schema.
    Alone,
    /// The schema at this index of a list.
    Place(usize),
    /// The schema with this name.
    Name(&'a str),
}

/// Returns the subschemas directly below a schema, each with its keyword and its position below the keyword.
pub fn children(members: &Map<String, Value>) -> impl Iterator<Item = (&str, Step<'_>, &Value)> {
    members.iter().flat_map(|(keyword, value)| {
        let keyword = keyword.as_str();
        let list: Vec<(Step<'_>, &Value)> = match value {
            _ if ONE.contains(&keyword) => vec![(Step::Alone, value)],
            Value::Array(items) if MANY.contains(&keyword) => {
                items.iter().enumerate().map(|(place, item)| (Step::Place(place), item)).collect()
            }
            Value::Object(named) if NAMED.contains(&keyword) => {
                named.iter().map(|(name, child)| (Step::Name(name), child)).collect()
            }
            _ => Vec::new(),
        };
        list.into_iter().map(move |(step, child)| (keyword, step, child))
    })
}

/// Returns a JSON Pointer with one more token, which it escapes.
pub fn down(pointer: &str, token: &str) -> String {
    // Replace `~` first, so that the escape of a slash is not escaped again (RFC 6901, section 3).
    format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))
}

/// Returns the JSON Pointer of a subschema. `pointer` is that of its parent.
pub fn below(pointer: &str, keyword: &str, step: Step<'_>) -> String {
    let at = down(pointer, keyword);
    match step {
        Step::Alone => at,
        Step::Place(place) => format!("{at}/{place}"),
        Step::Name(name) => down(&at, name),
    }
}

/// Resolves a reference within a schema to a JSON Pointer. The target is the schema itself, a place in it, or an
/// anchor. Returns `None` if the target is outside of the schema or does not exist.
pub fn pointer_of(root: &Value, reference: &str) -> Option<String> {
    let fragment = decode(reference.strip_prefix('#')?)?;
    match fragment.is_empty() || fragment.starts_with('/') {
        true => root.pointer(&fragment).is_some().then_some(fragment),
        false => anchor(root, "", &fragment),
    }
}

/// Finds an anchor, and returns its JSON Pointer.
fn anchor(schema: &Value, at: &str, wanted: &str) -> Option<String> {
    let members = schema.as_object()?;
    if members.get("$anchor").and_then(Value::as_str) == Some(wanted) {
        return Some(at.to_owned());
    }
    // Look only in subschemas, because the values of other keywords are data.
    children(members).find_map(|(keyword, step, child)| anchor(child, &below(at, keyword, step), wanted))
}

/// Decodes the percent-encoding of a URI fragment. Returns `None` if it is invalid.
fn decode(fragment: &str) -> Option<String> {
    // Collect bytes, because several sequences can make one character.
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_resolved() {
        let root = json!({
            "$defs": { "a/b": { "$anchor": "here" }, "c~d": true, "e f": { "items": { "$anchor": "deep" } } },
            "anyOf": [true, { "$anchor": "second" }],
            "enum": [{ "$anchor": "data" }],
        });
        let rows = [
            ("#", Some("")),
            ("#/$defs/a~1b", Some("/$defs/a~1b")),
            ("#/%24defs/c~0d", Some("/$defs/c~0d")),
            ("#/$defs/e%20f", Some("/$defs/e f")),
            ("#here", Some("/$defs/a~1b")),
            ("#deep", Some("/$defs/e f/items")),
            ("#second", Some("/anyOf/1")),
            ("#data", None),
            ("#/nowhere", None),
            ("#%zz", None),
            ("other.json#", None),
            ("", None),
        ];
        for (reference, expected) in rows {
            assert_eq!(pointer_of(&root, reference).as_deref(), expected, "{reference}");
        }
    }
}
