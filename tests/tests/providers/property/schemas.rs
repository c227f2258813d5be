//! Random schemas of moderate size, with every keyword that some provider treats in a special way.

use super::instances::Choices;
use serde_json::{Map, Value, json};

/// Maximum nesting depth.
const DEPTH_MAX: usize = 3;

/// Names of properties, including names with a special meaning elsewhere, and names that a provider rejects.
const NAMES: [&str; 10] =
    ["path", "limit", "mode", "filter", "tags", "type", "properties", "x-y", "a b", "\u{e4}\u{df}"];

/// Names under `$defs`, for references.
const SHARED: [&str; 2] = ["node", "size"];

/// Generates a schema of arguments.
pub(super) fn arguments(choices: &mut Choices<'_>) -> Value {
    let mut root = object(choices, 0);
    let node = json!({
        "type": "object",
        "properties": {"value": scalar(choices), "next": {"$ref": "#/$defs/node"}},
        "required": ["value"],
        "additionalProperties": choices.maybe(),
    });
    root["$defs"] = json!({"node": node, "size": {"type": "integer", "minimum": 0, "maximum": 9}});
    if choices.below(6) == 1 {
        root["description"] = json!("What it is given.");
    }
    root
}

fn any(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut schema = match choices.below(if depth >= DEPTH_MAX { 6 } else { 16 }) {
        0..=3 => scalar(choices),
        4 => nullable(choices),
        5 => {
            json!({"enum": choices.of(&[json!(["a", 1, null]), json!(["a"]), json!([true, "true"]), json!([1, 2.5])])})
        }
        6..=7 => object(choices, depth + 1),
        8 => array(choices, depth),
        9 => tuple(choices, depth),
        10 => json!({"anyOf": [any(choices, depth + 1), any(choices, depth + 1)]}),
        11 => json!({"oneOf": [{"type": "string"}, {"type": "integer"}, object(choices, DEPTH_MAX)]}),
        12 => json!({"allOf": [scalar(choices), {"description": "Both."}]}),
        13 => json!({"$ref": format!("#/$defs/{}", choices.of(&SHARED))}),
        14 => json!({"type": "string", "not": {"const": "a"}}),
        _ => json!({}),
    };
    if choices.below(4) == 1 {
        schema["description"] = json!("One of its parts.");
    }
    schema
}

fn scalar(choices: &mut Choices<'_>) -> Value {
    let all = [
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({"type": "boolean"}),
        json!({"type": "number", "minimum": -1.5, "exclusiveMaximum": 4}),
        json!({"type": "integer", "minimum": 1, "maximum": 40, "multipleOf": 4}),
        json!({"type": "string", "minLength": 2, "maxLength": 5}),
        json!({"type": "string", "pattern": "^[a-z]{2,4}-[0-9]+$"}),
        json!({"type": "string", "format": "date-time"}),
        json!({"type": "string", "enum": ["low", "high"], "default": "low"}),
        json!({"type": "integer", "enum": [1, 2, 3]}),
        json!({"type": "string", "const": "fixed"}),
        json!({"const": 7}),
        json!({"type": "null"}),
    ];
    choices.of(&all).clone()
}

fn nullable(choices: &mut Choices<'_>) -> Value {
    let all = [
        json!({"type": ["string", "null"]}),
        json!({"type": ["integer", "null"], "minimum": 0}),
        json!({"type": ["string", "integer"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"type": ["string", "null"], "enum": ["a", null]}),
    ];
    choices.of(&all).clone()
}

fn array(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut array = json!({"type": "array", "items": any(choices, depth + 1)});
    if choices.maybe() {
        array["minItems"] = json!(choices.below(3));
    }
    if choices.maybe() {
        array["maxItems"] = json!(2 + choices.below(3));
    }
    if choices.below(4) == 1 {
        array["uniqueItems"] = json!(true);
        array["items"] = json!({"type": "integer"});
    }
    array
}

fn tuple(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut tuple = json!({"type": "array", "prefixItems": [scalar(choices), any(choices, depth + 1)]});
    if choices.maybe() {
        tuple["items"] = json!(false);
    }
    tuple
}

fn object(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..=choices.below(4) {
        let name = *choices.of(&NAMES);
        properties.insert(name.to_owned(), any(choices, depth + 1));
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    let required: Vec<&String> = names.iter().filter(|_| choices.maybe()).collect();
    let mut object = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    match choices.below(5) {
        0 | 1 => object["additionalProperties"] = json!(false),
        2 => object["additionalProperties"] = scalar(choices),
        3 => object["patternProperties"] = json!({"^z[0-9]$": scalar(choices)}),
        _ => {}
    }
    match choices.below(8) {
        1 => object["minProperties"] = json!(1),
        2 => object["dependentRequired"] = json!({ names[0].as_str(): [names[names.len() - 1]] }),
        3 => {
            let (first, last) = (&names[0], &names[names.len() - 1]);
            object["if"] = json!({"required": [first]});
            object["then"] = json!({"required": [last]});
        }
        _ => {}
    }
    object
}
