//! Small arguments that a schema takes, made from the schema.
//!
//! It knows the usual keywords and guesses the rest; what it makes is held to the schema, so that a wrong guess is no
//! arguments and never wrong ones.

use crate::schema::Schema;
use crate::schema::parts::pointer_of;
use serde_json::{Map, Number, Value, json};

/// How deep what is made nests: a required member of a required member, and a few more.
const DEPTH_MAX: usize = 16;

/// The most values that are made in one try: a schema that asks for more is not tried.
const VALUES_MAX: usize = 1000;

/// The most places of a schema that are looked at in all tries together. References and alternatives let a schema of
/// a few kilobytes stand for one that nobody could read to the end.
const STEPS_MAX: usize = 2000;

/// The longest text that is made, in characters.
const TEXT_CHARACTERS_MAX: u64 = 64 * 1024;

/// What a text that has to look like something might have to look like. Each is one try, in this order.
const GUESSES: [&str; 20] = [
    "a",
    "0",
    "a0",
    "A",
    "AA",
    "AAA",
    "00",
    "0000",
    "a.b",
    "a/b",
    "/a",
    "a-b",
    "a_b",
    "a@b.example",
    "https://a.example/",
    "1970-01-01",
    "00:00:00",
    "1970-01-01T00:00:00Z",
    "00000000-0000-0000-0000-000000000000",
    "0.0.0",
];

/// The smallest arguments that could be made; nothing where none of the tries fits the schema.
pub(super) fn arguments(schema: &Schema) -> Option<Value> {
    let root = schema.document();
    let mut steps = 0;
    // A branch of a choice, and a guess at texts: the first of each are the likely ones.
    (0..GUESSES.len()).find_map(|attempt| {
        let mut maker = Maker { root, attempt, values: 0, steps };
        let made = maker.make(root, 0);
        steps = maker.steps;
        let made = made?;
        (made.is_object() && schema.is_match(&made)).then_some(made)
    })
}

struct Maker<'a> {
    root: &'a Value,
    attempt: usize,
    values: usize,
    /// Also those of the tries before.
    steps: usize,
}

impl Maker<'_> {
    fn make(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        self.values += 1;
        if depth > DEPTH_MAX || self.values > VALUES_MAX {
            return None;
        }
        let Value::Object(written) = schema else { return Some(Value::Null) };
        let whole = self.whole(written, depth)?;
        if let Some(value) = whole.get("const") {
            return Some(value.clone());
        }
        if let Some(values) = whole.get("enum").and_then(Value::as_array) {
            return values.get(self.attempt % values.len().max(1)).cloned();
        }
        match kind(&whole) {
            "object" => self.object(&whole, depth),
            "array" => self.array(&whole, depth),
            "string" => self.text(&whole),
            "integer" | "number" => number(&whole),
            "boolean" => Some(json!(false)),
            _ => Some(Value::Null),
        }
    }

    /// A schema with what it refers to, all of its parts, and one of its alternatives.
    fn whole(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Map<String, Value>> {
        self.steps += 1;
        if depth > DEPTH_MAX || self.steps > STEPS_MAX {
            return None;
        }
        let mut whole = schema.clone();
        let mut parts: Vec<Value> = Vec::new();
        if let Some(Value::String(reference)) = whole.remove("$ref") {
            parts.push(self.root.pointer(&pointer_of(self.root, &reference)?)?.clone());
        }
        if let Some(Value::Array(all)) = whole.remove("allOf") {
            parts.extend(all);
        }
        for choice in ["anyOf", "oneOf"] {
            if let Some(Value::Array(mut choices)) = whole.remove(choice)
                && !choices.is_empty()
            {
                parts.push(choices.swap_remove(self.attempt % choices.len()));
            }
        }
        for part in parts {
            if let Value::Object(part) = part {
                merge(&mut whole, self.whole(&part, depth + 1)?);
            }
        }
        Some(whole)
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let empty = Map::new();
        let named = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let other = schema.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let mut made = Map::new();
        for name in required {
            let value = self.make(named.get(name).unwrap_or(&other), depth + 1)?;
            made.insert(name.to_owned(), value);
        }
        let least = count(schema, "minProperties");
        for (name, schema) in named {
            if made.len() as u64 >= least {
                break;
            }
            if !made.contains_key(name) {
                let value = self.make(schema, depth + 1)?;
                made.insert(name.clone(), value);
            }
        }
        Some(Value::Object(made))
    }

    fn array(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let least = usize::try_from(count(schema, "minItems")).ok().filter(|least| *least <= VALUES_MAX)?;
        let first = schema.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").or_else(|| schema.get("contains")).cloned().unwrap_or(Value::Null);
        let least = least.max(usize::from(schema.contains_key("contains")));
        let items = (0..least).map(|index| self.make(first.get(index).unwrap_or(&rest), depth + 1));
        items.collect::<Option<Vec<_>>>().map(Value::Array)
    }

    fn text(&self, schema: &Map<String, Value>) -> Option<Value> {
        let least = count(schema, "minLength");
        if least > TEXT_CHARACTERS_MAX {
            return None;
        }
        let guess = match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => "1970-01-01T00:00:00Z",
            Some("date") => "1970-01-01",
            Some("time") => "00:00:00Z",
            Some("email") => "a@b.example",
            Some("uri" | "iri") => "https://a.example/",
            Some("uuid") => "00000000-0000-0000-0000-000000000000",
            Some(_) => GUESSES.get(self.attempt).copied().unwrap_or_default(),
            None if schema.contains_key("pattern") => GUESSES.get(self.attempt).copied().unwrap_or_default(),
            None => "",
        };
        let mut text = guess.to_owned();
        for _ in text.chars().count() as u64..least {
            text.push('a');
        }
        Some(Value::String(text))
    }
}

/// What a value has to be, where the schema says it; what its keywords are about, where it does not.
fn kind(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            if kinds.contains(&"null") { "null" } else { kinds.first().copied().unwrap_or("null") }
        }
        _ if schema.contains_key("properties") || schema.contains_key("required") => "object",
        _ if schema.contains_key("items") || schema.contains_key("minItems") => "array",
        _ if schema.contains_key("minLength") || schema.contains_key("pattern") => "string",
        _ if schema.contains_key("minimum") || schema.contains_key("exclusiveMinimum") => "number",
        _ => "null",
    }
}

/// The number nearest to zero that the bounds let through.
fn number(schema: &Map<String, Value>) -> Option<Value> {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let whole = schema.get("type").and_then(Value::as_str) == Some("integer");
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let up = |least: f64| (least / step).ceil() * step;
    let down = |most: f64| (most / step).floor() * step;
    let mut value = 0.0_f64;
    if let Some(least) = bound("minimum").filter(|least| *least > value) {
        value = up(least);
    }
    if let Some(least) = bound("exclusiveMinimum").filter(|least| *least >= value) {
        value = if up(least) > least { up(least) } else { up(least) + step };
    }
    if let Some(most) = bound("maximum").filter(|most| *most < value) {
        value = if whole { down(most) } else { most };
    }
    if let Some(most) = bound("exclusiveMaximum").filter(|most| *most <= value) {
        value = if down(most) < most { down(most) } else { down(most) - step };
    }
    // A number that JSON writes without a point is one to any reader.
    #[expect(clippy::cast_possible_truncation, reason = "a bound that is no such number is not met, and not tried")]
    let rounded = value as i64;
    if value.fract() == 0.0 { Some(json!(rounded)) } else { Number::from_f64(value).map(Value::Number) }
}

fn count(schema: &Map<String, Value>, keyword: &str) -> u64 {
    schema.get(keyword).and_then(Value::as_u64).unwrap_or(0)
}

/// Adds what a part says. Members and requirements add up; of anything else what was there stays.
fn merge(whole: &mut Map<String, Value>, part: Map<String, Value>) {
    for (keyword, value) in part {
        match (whole.get_mut(&keyword), value) {
            (Some(Value::Object(there)), Value::Object(more)) if keyword == "properties" => {
                for (name, schema) in more {
                    there.entry(name).or_insert(schema);
                }
            }
            (Some(Value::Array(there)), Value::Array(more)) if keyword == "required" => there.extend(more),
            (Some(_), _) => {}
            (None, value) => drop(whole.insert(keyword, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: &Value) -> Option<Value> {
        arguments(&Schema::of_document(&schema.to_string()).unwrap())
    }

    fn member(schema: &Value) -> Option<Value> {
        let all =
            json!({"type": "object", "required": ["a"], "properties": {"a": schema}, "additionalProperties": false});
        made(&all).map(|made| made["a"].clone())
    }

    #[test]
    fn only_what_is_required_is_made() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]});
        assert_eq!(made(&schema), Some(json!({"a": ""})));
        assert_eq!(made(&json!({"type": "object"})), Some(json!({})));
        assert_eq!(
            made(&json!({"type": "object", "minProperties": 1, "properties": {"a": {"type": "boolean"}}})),
            Some(json!({"a": false}))
        );
    }

    #[test]
    fn each_kind_is_made_within_its_bounds() {
        for (schema, value) in [
            (json!({}), json!(null)),
            (json!(true), json!(null)),
            (json!({"const": [1]}), json!([1])),
            (json!({"enum": ["x", "y"]}), json!("x")),
            (json!({"type": "string", "minLength": 2}), json!("aa")),
            (json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}), json!("1970-01-01")),
            (json!({"type": "integer", "minimum": 1, "maximum": 100}), json!(1)),
            (json!({"type": "integer", "exclusiveMinimum": 1, "multipleOf": 5}), json!(5)),
            (json!({"type": "integer", "maximum": -3}), json!(-3)),
            (json!({"type": "number", "exclusiveMaximum": 0}), json!(-1)),
            (json!({"type": "number", "minimum": 0.5, "maximum": 0.5, "multipleOf": 0.5}), json!(0.5)),
            (json!({"type": "array", "minItems": 2, "items": {"type": "integer"}}), json!([0, 0])),
            (json!({"type": ["string", "null"]}), json!(null)),
            (json!({"anyOf": [{"type": "boolean"}, {"type": "null"}]}), json!(false)),
            (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), json!("a")),
        ] {
            assert_eq!(member(&schema), Some(value), "{schema}");
        }
    }

    #[test]
    fn references_are_followed_and_never_for_ever() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}}}});
        assert_eq!(made(&schema), Some(json!({"a": {"b": 0}})));
        let endless = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        assert_eq!(made(&endless), None);
    }

    #[test]
    fn a_small_schema_that_stands_for_a_vast_one_is_given_up() {
        // 990 members of 15 x 15 x 15 parts, in 20 tries: without a bound this takes minutes.
        let fifteen = |of: &str| json!({ "allOf": vec![json!({ "$ref": format!("#/$defs/{of}") }); 15] });
        let names: Vec<String> = (0..990).map(|number| format!("p{number}")).collect();
        let vast = json!({"type": "object", "required": names, "additionalProperties": {"$ref": "#/$defs/a"}, "$defs": {
            "a": fifteen("b"), "b": fifteen("c"), "c": fifteen("d"), "d": {"type": "string", "pattern": "^x{100}$"}}});
        assert_eq!(made(&vast), None);
    }

    #[test]
    fn an_anchor_is_followed() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#it"}},
            "$defs": {"a": {"$anchor": "it", "type": "integer"}}});
        assert_eq!(made(&schema), Some(json!({"a": 0})));
    }

    #[test]
    fn what_cannot_be_made_is_not_made_wrongly() {
        for schema in [
            json!({"type": "string", "pattern": "^x{100}$"}),
            json!({"type": "string", "minLength": 10_000_000}),
            json!({"type": "array", "minItems": 2, "uniqueItems": true, "items": {"type": "boolean"}}),
            json!(false),
        ] {
            assert_eq!(member(&schema), None, "{schema}");
        }
    }
}
