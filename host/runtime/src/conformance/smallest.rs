//! Generates small arguments that match a schema.
//!
//! It supports the usual keywords and guesses the rest. The result is checked against the schema, so a wrong guess
//! yields no arguments instead of wrong ones.

mod whole;

use portcullis_definitions::schema::Schema;
use portcullis_definitions::schema::parts::pointer_of;
use serde_json::{Map, Number, Value, json};
use whole::WholeSchema;

/// Maximum nesting of the generated value.
const DEPTH_MAX: usize = 16;

/// Maximum values that are generated in one attempt.
const VALUES_MAX: usize = 1000;

/// Maximum places of a schema that all attempts visit together. With references and alternatives, a schema of a few
/// kilobytes can have a nearly unlimited number of places.
const STEPS_MAX: usize = 2000;

/// Maximum length of a generated text, in characters.
const TEXT_CHARACTERS_MAX: usize = 4 * 1024;

/// Guesses for texts with a pattern or a format. Each is one attempt, in this order.
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

/// The schema that every value matches.
static ANY: Value = Value::Bool(true);

/// Why no arguments were generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoArguments {
    /// No attempt matches the schema.
    NoFit,
    /// Arguments that could match are too large.
    TooLarge,
}

/// Generates the smallest possible arguments, in canonical form.
///
/// # Errors
/// No attempt matches the schema, or every one that does is larger than `bytes_max`.
pub(super) fn arguments(schema: &Schema, bytes_max: usize) -> Result<String, NoArguments> {
    let root = schema.document();
    let (mut steps, mut too_large) = (0, false);
    // The attempt selects an alternative of each union and a guess for texts. The first ones are the most likely.
    for attempt in 0..GUESSES.len() {
        let mut maker = Maker { root, attempt, values: 0, steps, bytes_left: bytes_max, too_large };
        let made = maker.make(root, 0);
        (steps, too_large) = (maker.steps, maker.too_large);
        let Some(made) = made.filter(|made| made.is_object() && schema.is_match(made)) else { continue };
        let text = made.to_string();
        if text.len() <= bytes_max {
            return Ok(text);
        }
        too_large = true;
    }
    Err(if too_large { NoArguments::TooLarge } else { NoArguments::NoFit })
}

struct Maker<'a> {
    root: &'a Value,
    attempt: usize,
    values: usize,
    /// The visited places, including those of earlier attempts.
    steps: usize,
    /// The remaining bytes for texts and names.
    bytes_left: usize,
    /// Whether this or an earlier attempt stopped because no bytes remained.
    too_large: bool,
}

impl<'a> Maker<'a> {
    fn make(&mut self, schema: &'a Value, depth: usize) -> Option<Value> {
        self.values += 1;
        if depth > DEPTH_MAX || self.values > VALUES_MAX {
            return None;
        }
        // The schema `false` allows nothing. The check of the whole result finds that.
        let Value::Object(written) = schema else { return Some(Value::Null) };
        let mut whole = WholeSchema::default();
        self.gather(written, &mut whole, depth)?;
        if let Some(value) = whole.get("const") {
            return self.given(value);
        }
        if let Some(values) = whole.get("enum").and_then(Value::as_array) {
            return self.given(values.get(self.attempt % values.len().max(1))?);
        }
        match whole.kind() {
            "object" => self.object(&whole, depth),
            "array" => self.array(&whole, depth),
            "string" => self.text(&whole),
            "integer" | "number" => number(&whole),
            "boolean" => Some(json!(false)),
            _ => Some(Value::Null),
        }
    }

    /// Adds a schema to a whole, and then the parts of the schema.
    fn gather(&mut self, schema: &'a Map<String, Value>, whole: &mut WholeSchema<'a>, depth: usize) -> Option<()> {
        self.steps += 1;
        // References can go in circles.
        if depth > DEPTH_MAX || self.steps > STEPS_MAX {
            return None;
        }
        whole.add(schema);
        let mut parts: Vec<&'a Value> = Vec::new();
        if let Some(Value::String(reference)) = schema.get("$ref") {
            parts.push(self.root.pointer(&pointer_of(self.root, reference)?)?);
        }
        if let Some(Value::Array(all)) = schema.get("allOf") {
            parts.extend(all);
        }
        for choice in ["anyOf", "oneOf"] {
            if let Some(Value::Array(choices)) = schema.get(choice) {
                parts.extend(choices.get(self.attempt % choices.len().max(1)));
            }
        }
        parts.into_iter().filter_map(Value::as_object).try_for_each(|part| self.gather(part, whole, depth + 1))
    }

    /// Counts generated bytes.
    fn take(&mut self, bytes: usize) -> Option<()> {
        let left = self.bytes_left.checked_sub(bytes);
        self.too_large |= left.is_none();
        self.bytes_left = left?;
        Some(())
    }

    /// Takes a value from the schema itself.
    fn given(&mut self, value: &Value) -> Option<Value> {
        // Count before the copy. A long constant in a long array would otherwise take much memory before it is
        // refused.
        self.take(size(value))?;
        Some(value.clone())
    }

    fn object(&mut self, schema: &WholeSchema<'a>, depth: usize) -> Option<Value> {
        let other = schema.get("additionalProperties").unwrap_or(&ANY);
        let least = schema.count("minProperties");
        let mut made = Map::new();
        for name in &schema.required {
            let value = self.member(name, schema.members.get(name).copied().unwrap_or(other), depth)?;
            made.insert((*name).to_owned(), value);
        }
        for (name, member) in &schema.members {
            if made.len() as u64 >= least {
                break;
            }
            if !made.contains_key(*name) {
                let value = self.member(name, member, depth)?;
                made.insert((*name).to_owned(), value);
            }
        }
        Some(Value::Object(made))
    }

    fn member(&mut self, name: &str, schema: &'a Value, depth: usize) -> Option<Value> {
        self.take(name.len())?;
        self.make(schema, depth + 1)
    }

    fn array(&mut self, schema: &WholeSchema<'a>, depth: usize) -> Option<Value> {
        let least = usize::try_from(schema.count("minItems")).ok().filter(|least| *least <= VALUES_MAX)?;
        let first = schema.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").or_else(|| schema.get("contains")).unwrap_or(&ANY);
        let least = least.max(usize::from(schema.get("contains").is_some()));
        let items = (0..least).map(|index| self.make(first.get(index).unwrap_or(rest), depth + 1));
        items.collect::<Option<Vec<_>>>().map(Value::Array)
    }

    fn text(&mut self, schema: &WholeSchema<'a>) -> Option<Value> {
        let least = usize::try_from(schema.count("minLength")).ok().filter(|least| *least <= TEXT_CHARACTERS_MAX)?;
        let guessed = || GUESSES.get(self.attempt).copied().unwrap_or_default();
        let guess = match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => "1970-01-01T00:00:00Z",
            Some("date") => "1970-01-01",
            Some("time") => "00:00:00Z",
            Some("email") => "a@b.example",
            Some("uri" | "iri") => "https://a.example/",
            Some("uuid") => "00000000-0000-0000-0000-000000000000",
            Some(_) => guessed(),
            None if schema.get("pattern").is_some() => guessed(),
            None => "",
        };
        // All guesses are ASCII, so bytes are characters.
        let filler = "a".repeat(least.saturating_sub(guess.len()));
        self.take(guess.len() + filler.len())?;
        Some(Value::String(guess.to_owned() + &filler))
    }
}

/// Returns the bytes of the names and texts in a value, plus one for each other value.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.iter().map(|(name, value)| name.len() + size(value)).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// Returns the number nearest to zero within the bounds.
fn number(schema: &WholeSchema<'_>) -> Option<Value> {
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
    // Write a whole number without a decimal point, because some readers only accept that as an integer.
    #[expect(clippy::cast_possible_truncation, reason = "a bound that is no such number is not met, and not tried")]
    let rounded = value as i64;
    if value.fract() == 0.0 { Some(json!(rounded)) } else { Number::from_f64(value).map(Value::Number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generous limit in bytes.
    const BYTES_MAX: usize = 1 << 20;

    fn tried(schema: &Value, bytes_max: usize) -> Result<Value, NoArguments> {
        let made = arguments(&Schema::of_document(&schema.to_string()).unwrap(), bytes_max);
        made.map(|text| serde_json::from_str(&text).unwrap())
    }

    fn made(schema: &Value) -> Option<Value> {
        tried(schema, BYTES_MAX).ok()
    }

    fn member(schema: &Value) -> Option<Value> {
        let all =
            json!({"type": "object", "required": ["a"], "properties": {"a": schema}, "additionalProperties": false});
        made(&all).map(|made| made["a"].clone())
    }

    #[test]
    fn only_required_members_are_generated() {
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
    fn references_are_followed_but_not_forever() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}}}});
        assert_eq!(made(&schema), Some(json!({"a": {"b": 0}})));
        let endless = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        assert_eq!(made(&endless), None);
    }

    #[test]
    fn an_exploding_schema_is_given_up() {
        // 990 members of 15 x 15 x 15 parts, in 20 tries: without a bound this takes minutes.
        let fifteen = |of: &str| json!({ "allOf": vec![json!({ "$ref": format!("#/$defs/{of}") }); 15] });
        let names: Vec<String> = (0..990).map(|number| format!("p{number}")).collect();
        let vast = json!({"type": "object", "required": names, "additionalProperties": {"$ref": "#/$defs/a"}, "$defs": {
            "a": fifteen("b"), "b": fifteen("c"), "c": fifteen("d"), "d": {"type": "string", "pattern": "^x{100}$"}}});
        assert_eq!(made(&vast), None);
    }

    #[test]
    fn too_large_arguments_are_not_generated() {
        let texts = |count: usize| {
            let names: Vec<String> = (0..count).map(|number| format!("p{number}")).collect();
            json!({"type": "object", "required": names, "additionalProperties": {"type": "string", "minLength": 4096}})
        };
        assert!(tried(&texts(10), BYTES_MAX).is_ok());
        assert_eq!(tried(&texts(300), BYTES_MAX), Err(NoArguments::TooLarge));
        // What it would be is counted while it is made, so that it is never there: this would be sixty megabytes.
        let document = json!({"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
            "a": {"type": "array", "minItems": 990, "items": {"$ref": "#/$defs/long"}}},
            "$defs": {"long": {"const": "x".repeat(60_000)}}});
        assert_eq!(tried(&document, BYTES_MAX), Err(NoArguments::TooLarge));
        // Escapes are counted as well, at the end.
        let escapes = json!({"type": "object", "required": ["a"], "properties": {"a": {"const": "\u{1}".repeat(100)}}});
        assert_eq!(tried(&escapes, 200), Err(NoArguments::TooLarge));
        assert!(tried(&escapes, 700).is_ok());
    }

    #[test]
    fn deep_or_large_values_are_not_generated() {
        let nested = |depth: usize| {
            let inner = json!({"type": "boolean"});
            (0..depth).fold(inner, |inner, _| json!({"type": "object", "required": ["a"], "properties": {"a": inner}}))
        };
        assert!(made(&nested(DEPTH_MAX)).is_some());
        assert_eq!(made(&nested(DEPTH_MAX + 1)), None);
        let items = |count: usize| json!({"type": "array", "minItems": count, "items": {"type": "boolean"}});
        assert!(member(&items(VALUES_MAX - 2)).is_some());
        assert_eq!(member(&items(VALUES_MAX - 1)), None);
        assert_eq!(member(&items(usize::MAX)), None);
        let text = |least: usize| json!({"type": "string", "minLength": least});
        assert!(member(&text(TEXT_CHARACTERS_MAX)).is_some());
        assert_eq!(member(&text(TEXT_CHARACTERS_MAX + 1)), None);
    }

    #[test]
    fn an_anchor_is_followed() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#it"}},
            "$defs": {"a": {"$anchor": "it", "type": "integer"}}});
        assert_eq!(made(&schema), Some(json!({"a": 0})));
    }

    #[test]
    fn arguments_that_do_not_match_are_not_returned() {
        for schema in [
            json!({"type": "string", "pattern": "^x{100}$"}),
            json!({"type": "array", "minItems": 2, "uniqueItems": true, "items": {"type": "boolean"}}),
            json!(false),
        ] {
            assert_eq!(member(&schema), None, "{schema}");
        }
    }
}
