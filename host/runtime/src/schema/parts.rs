//! How a JSON Schema hangs together: the subschemas of each, and where its references lead. Whoever goes along a
//! schema, to check it, to export it or to mend a value by it, goes by this.

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

/// Keywords whose value is schemas by name.
pub const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Which of the schemas below a keyword one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The only one.
    Alone,
    /// The one at this place of a list.
    Place(usize),
    /// The one of this name.
    Name(&'a str),
}

/// The subschemas directly below a schema: the keyword that leads to each, which of its schemas it is, and itself.
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

/// A JSON Pointer with one token more.
pub fn down(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))
}

/// The place of a subschema below its keyword, as a JSON Pointer.
pub fn below(pointer: &str, keyword: &str, step: Step<'_>) -> String {
    let at = down(pointer, keyword);
    match step {
        Step::Alone => at,
        Step::Place(place) => format!("{at}/{place}"),
        Step::Name(name) => down(&at, name),
    }
}

/// Where a reference of a schema leads within it, as a JSON Pointer: it is itself, a place in it, or an anchor. Nothing
/// where it leads elsewhere, or to nothing.
pub fn pointer_of(root: &Value, reference: &str) -> Option<String> {
    let fragment = decode(reference.strip_prefix('#')?)?;
    match fragment.is_empty() || fragment.starts_with('/') {
        true => root.pointer(&fragment).is_some().then_some(fragment),
        false => anchor(root, "", &fragment),
    }
}

/// The place of an anchor.
fn anchor(schema: &Value, at: &str, wanted: &str) -> Option<String> {
    let members = schema.as_object()?;
    if members.get("$anchor").and_then(Value::as_str) == Some(wanted) {
        return Some(at.to_owned());
    }
    children(members).find_map(|(keyword, step, child)| anchor(child, &below(at, keyword, step), wanted))
}

/// Undoes the percent-encoding of a URI fragment; nothing where it is none.
fn decode(fragment: &str) -> Option<String> {
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
    fn a_reference_leads_where_it_says() {
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
