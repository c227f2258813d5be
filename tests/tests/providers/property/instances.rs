//! Generates values from a schema alone. A value may be invalid, because only a validator can handle `not`, `oneOf` and
//! similar keywords. Callers validate each value, and count the valid ones.

use super::strings;
use serde_json::{Map, Value, json};

/// Maximum depth of optional values. Below it, only required members are generated.
const DEPTH_MAX: usize = 6;

/// Maximum number of references and parts that are merged for one schema. More means that the schema is cyclic.
const FLATTENED_MAX: usize = 64;

/// The source of choices. When it is exhausted, it always chooses the first and simplest option, so that generation
/// ends. A shorter source gives a simpler value, so that failing cases shrink.
pub(crate) struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns a number below this one.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        usize::from(*first) % count.max(1)
    }

    /// Returns one of these.
    pub(crate) fn of<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        &all[self.below(all.len())]
    }

    /// Returns a random Boolean, or false if the source is exhausted.
    pub(crate) fn maybe(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// Generates a value that the schema may allow.
pub(crate) fn instance(schema: &Value, choices: &mut Choices<'_>) -> Value {
    Maker { root: schema, left: FLATTENED_MAX }.value(schema, 0, choices)
}

struct Maker<'a> {
    root: &'a Value,
    left: usize,
}

impl Maker<'_> {
    fn value(&mut self, schema: &Value, depth: usize, choices: &mut Choices<'_>) -> Value {
        self.left = FLATTENED_MAX;
        let Some(flat) = self.chosen(schema, depth, choices) else { return Value::Null };
        if let Some(value) = flat.get("const") {
            return value.clone();
        }
        if let Some(values) = flat.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
            return choices.of(values).clone();
        }
        match kind(&flat, choices) {
            "null" => Value::Null,
            "boolean" => Value::Bool(choices.maybe()),
            "integer" => number(&flat, true, choices),
            "number" => number(&flat, false, choices),
            "string" => Value::String(strings::of(&flat, choices)),
            "array" => self.array(&flat, depth, choices),
            _ => self.object(&flat, depth, choices),
        }
    }

    /// Merges the schema into one object without references and alternatives, of which some are chosen.
    fn chosen(&mut self, schema: &Value, depth: usize, choices: &mut Choices<'_>) -> Option<Map<String, Value>> {
        let mut flat = self.flat(schema)?;
        for _ in 0..4 {
            for keyword in ["anyOf", "oneOf"] {
                let Some(Value::Array(branches)) = flat.remove(keyword) else { continue };
                let mut branches: Vec<_> = branches.iter().filter_map(|branch| self.flat(branch)).collect();
                if depth >= DEPTH_MAX {
                    // The shallowest alternative ends soonest.
                    branches.sort_by_key(|branch| Value::from(branch.clone()).to_string().len());
                    branches.truncate(1);
                }
                if branches.is_empty() {
                    return None;
                }
                let branch = choices.of(&branches).clone();
                flat = merged(flat, branch);
            }
            if let Some(condition) = flat.remove("if") {
                let (then, or) = (flat.remove("then"), flat.remove("else"));
                let (condition, branch) = if choices.maybe() { (condition, then) } else { (json!(true), or) };
                for schema in [Some(condition), branch].into_iter().flatten() {
                    flat = merged(flat, self.flat(&schema)?);
                }
            }
        }
        Some(flat)
    }

    /// Merges the schema into one object without references and `allOf`. Returns `None` if it allows nothing.
    fn flat(&mut self, schema: &Value) -> Option<Map<String, Value>> {
        self.left = self.left.checked_sub(1)?;
        let mut flat = match schema {
            Value::Object(schema) => schema.clone(),
            Value::Bool(false) => return None,
            _ => return Some(Map::new()),
        };
        for keyword in ["$ref", "$dynamicRef"] {
            if let Some(Value::String(reference)) = flat.remove(keyword) {
                let target = self.target(&reference)?;
                flat = merged(self.flat(&target)?, flat);
            }
        }
        if let Some(Value::Array(all)) = flat.remove("allOf") {
            for schema in &all {
                flat = merged(flat, self.flat(schema)?);
            }
        }
        Some(flat)
    }

    fn target(&self, reference: &str) -> Option<Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&unescaped(fragment)).cloned();
        }
        anchored(self.root, fragment).cloned()
    }

    fn array(&mut self, flat: &Map<String, Value>, depth: usize, choices: &mut Choices<'_>) -> Value {
        let prefix = flat.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        let items = flat.get("items").cloned().unwrap_or(json!(true));
        let (least, most) = (size(flat, "minItems").unwrap_or(0), size(flat, "maxItems").unwrap_or(usize::MAX));
        let contained = flat.get("contains");
        let most = if items == json!(false) { most.min(prefix.len()) } else { most };
        let wanted = if depth >= DEPTH_MAX { least } else { least + choices.below(3) };
        let mut values: Vec<Value> = Vec::new();
        for place in 0..(wanted.min(most) * 4) {
            if values.len() >= wanted.min(most) {
                break;
            }
            let schema = prefix.get(values.len()).unwrap_or(&items);
            let schema = match contained {
                Some(contained) if place == 0 => &json!({"allOf": [schema, contained]}),
                _ => schema,
            };
            let value = self.value(schema, depth + 1, choices);
            if flat.get("uniqueItems") != Some(&json!(true)) || !values.contains(&value) {
                values.push(value);
            }
        }
        Value::Array(values)
    }

    fn object(&mut self, flat: &Map<String, Value>, depth: usize, choices: &mut Choices<'_>) -> Value {
        let empty = Map::new();
        let properties = flat.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let patterns = flat.get("patternProperties").and_then(Value::as_object).unwrap_or(&empty);
        let most = size(flat, "maxProperties").unwrap_or(usize::MAX);
        let mut names: Vec<String> = names(flat.get("required"));
        for (name, schema) in properties {
            let wanted = depth < DEPTH_MAX && *schema != json!(false) && choices.maybe();
            if wanted && names.len() < most && !names.contains(name) {
                names.push(name.clone());
            }
        }
        let mut object = Map::new();
        let mut done = 0;
        while let Some(name) = names.get(done).cloned() {
            done += 1;
            let fallback = flat.get("additionalProperties").cloned().unwrap_or(json!(true));
            let schema = properties.get(&name).unwrap_or(&fallback);
            object.insert(name.clone(), self.value(schema, depth + 1, choices));
            let needed = flat.get("dependentRequired").and_then(|all| all.get(&name));
            names.extend(self::names(needed).into_iter().filter(|needed| !object.contains_key(needed)));
        }
        let least = size(flat, "minProperties").unwrap_or(0);
        let more = usize::from(depth < DEPTH_MAX && choices.maybe());
        for number in 0..8 {
            if object.len() >= least.max(done + more).min(most) {
                break;
            }
            let pattern = patterns.iter().nth(choices.below(patterns.len() + 1));
            let (name, schema) = match (pattern, flat.get("additionalProperties")) {
                (Some((pattern, schema)), _) => (strings::matching(pattern, choices), schema.clone()),
                (None, Some(Value::Bool(false))) => continue,
                _ if flat.get("unevaluatedProperties") == Some(&json!(false)) => continue,
                (None, schema) => {
                    let named = flat.get("propertyNames").map(|schema| self.value(schema, depth + 1, choices));
                    let name = named.and_then(|name| name.as_str().map(str::to_owned));
                    (name.unwrap_or_else(|| format!("more-{number}")), schema.cloned().unwrap_or(json!(true)))
                }
            };
            if !properties.contains_key(&name) {
                let value = self.value(&schema, depth + 1, choices);
                object.insert(name, value);
            }
        }
        if let Some(dependent) = flat.get("dependentSchemas").and_then(Value::as_object) {
            for (name, schema) in dependent {
                if object.contains_key(name)
                    && let Value::Object(more) = self.value(schema, depth + 1, choices)
                {
                    for (name, value) in more {
                        object.entry(name).or_insert(value);
                    }
                }
            }
        }
        Value::Object(object)
    }
}

/// Returns the type of value that a schema describes.
fn kind<'a>(flat: &'a Map<String, Value>, choices: &mut Choices<'_>) -> &'a str {
    match flat.get("type") {
        Some(Value::String(kind)) => return kind,
        Some(Value::Array(kinds)) if !kinds.is_empty() => return choices.of(kinds).as_str().unwrap_or("null"),
        _ => {}
    }
    let speaks_of = |keywords: &[&str]| keywords.iter().any(|keyword| flat.contains_key(*keyword));
    if speaks_of(&["properties", "required", "patternProperties", "additionalProperties", "minProperties"]) {
        "object"
    } else if speaks_of(&["items", "prefixItems", "minItems", "maxItems", "contains"]) {
        "array"
    } else if speaks_of(&["minLength", "maxLength", "pattern", "format"]) {
        "string"
    } else if speaks_of(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        "number"
    } else {
        choices.of::<&str>(&["string", "integer", "boolean", "null", "array", "object"])
    }
}

fn number(flat: &Map<String, Value>, whole: bool, choices: &mut Choices<'_>) -> Value {
    let bound = |keyword: &str| flat.get(keyword).and_then(Value::as_f64);
    let step = bound("multipleOf").unwrap_or(if whole { 1.0 } else { 0.5 });
    let step = if whole && step.fract() != 0.0 { 1.0 } else { step };
    let low = [bound("minimum"), bound("exclusiveMinimum").map(|low| low + step.min(1e-3))];
    let high = [bound("maximum"), bound("exclusiveMaximum").map(|high| high - step.min(1e-3))];
    let low = low.into_iter().flatten().reduce(f64::max);
    let high = high.into_iter().flatten().reduce(f64::min);
    let first = (low.unwrap_or_else(|| high.unwrap_or(0.0).min(0.0)) / step).ceil();
    let last = high.map_or(first + 1000.0, |high| (high / step).floor());
    let simplest = if first <= 0.0 && last >= 0.0 { 0.0 } else { first };
    let at = match choices.below(4) {
        0 => simplest,
        1 => first,
        2 => last,
        _ => (first + f64::from(u8::try_from(choices.below(256)).unwrap_or(0))).min(last),
    };
    let value = at * step;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough to be exact")]
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// Merges both schemas into one, as far as possible.
fn merged(mut one: Map<String, Value>, other: Map<String, Value>) -> Map<String, Value> {
    for (keyword, value) in other {
        let Some(present) = one.remove(&keyword) else {
            one.insert(keyword, value);
            continue;
        };
        let both = match (keyword.as_str(), present, value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(mut present), Value::Object(more)) => {
                for (name, schema) in more {
                    let both = match present.remove(&name) {
                        Some(present) if present != schema => json!({"allOf": [present, schema]}),
                        _ => schema,
                    };
                    present.insert(name, both);
                }
                Value::Object(present)
            }
            ("required", Value::Array(mut present), Value::Array(more)) => {
                present.extend(more);
                Value::Array(present)
            }
            ("enum", Value::Array(present), Value::Array(more)) => {
                present.into_iter().filter(|value| more.contains(value)).collect()
            }
            ("type", present, more) => common_types(present, more),
            ("anyOf" | "oneOf", present, more) if present != more => {
                // One alternative of each must match.
                let earlier = json!({ keyword.as_str(): present });
                let Value::Array(branches) = more else { continue };
                branches.into_iter().map(|branch| json!({"allOf": [earlier, branch]})).collect()
            }
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", present, more) => {
                if present.as_f64() > more.as_f64() { present } else { more }
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", present, more) => {
                if present.as_f64() < more.as_f64() { present } else { more }
            }
            ("items" | "additionalProperties" | "contains" | "propertyNames", present, more) if present != more => {
                json!({"allOf": [present, more]})
            }
            (_, _, more) => more,
        };
        one.insert(keyword, both);
    }
    one
}

fn common_types(one: Value, other: Value) -> Value {
    let list = |value: Value| if let Value::Array(list) = value { list } else { vec![value] };
    let (one, other) = (list(one), list(other));
    let within =
        |kind: &Value, kinds: &[Value]| kinds.contains(kind) || *kind == "integer" && kinds.contains(&json!("number"));
    let mut both: Vec<Value> = one.iter().filter(|kind| within(kind, &other)).cloned().collect();
    both.extend(other.iter().filter(|kind| within(kind, &one) && !one.contains(kind)).cloned());
    Value::Array(both)
}

/// Decodes the `%` escapes in a fragment.
fn unescaped(fragment: &str) -> String {
    let mut pieces = fragment.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).unwrap());
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).unwrap()
}

fn anchored<'a>(schema: &'a Value, anchor: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(members) => {
            let named = |keyword| members.get(keyword).and_then(Value::as_str) == Some(anchor);
            if named("$anchor") || named("$dynamicAnchor") {
                return Some(schema);
            }
            members.values().find_map(|member| anchored(member, anchor))
        }
        Value::Array(items) => items.iter().find_map(|item| anchored(item, anchor)),
        _ => None,
    }
}

fn size(flat: &Map<String, Value>, keyword: &str) -> Option<usize> {
    flat.get(keyword).and_then(Value::as_f64).map(|size| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes of schemas are small")]
        let size = size as usize;
        size
    })
}

fn names(list: Option<&Value>) -> Vec<String> {
    let names = list.and_then(Value::as_array).into_iter().flatten();
    let mut all: Vec<String> = Vec::new();
    for name in names.filter_map(Value::as_str) {
        if !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    }
    all
}
