//! One value to another that says exactly the same in the type that is wanted.

use portcullis::parse_json;
use serde_json::Value;

/// A type of JSON Schema.
pub(super) fn is_of(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || (kind == "integer" && !number.is_f64()),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

/// A value of a wanted type, and what was done.
pub(super) fn convert(value: &Value, wants: &dyn Fn(&str) -> bool) -> Option<(Value, &'static str)> {
    let written = match value {
        Value::String(text) => from_text(text, wants),
        Value::Number(number) if wants("string") && !number.is_f64() => {
            Some((Value::String(number.to_string()), "a whole number became a text"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    };
    // Nothing is no list of one thing.
    let alone = || {
        let list = wants("array") && !value.is_null() && !value.is_array();
        list.then(|| (Value::Array(vec![value.clone()]), "one value became a list of it"))
    };
    written.or_else(alone)
}

fn from_text(text: &str, wants: &dyn Fn(&str) -> bool) -> Option<(Value, &'static str)> {
    if (wants("integer") || wants("number"))
        && let Some(number) = exact_number(text).filter(|number| wants("number") || is_of(number, "integer"))
    {
        return Some((number, "a text became the number in it"));
    }
    let truth = |word: &str| text.eq_ignore_ascii_case(word);
    if wants("boolean") && (truth("true") || truth("false")) {
        return Some((Value::Bool(truth("true")), "a text became the true or false in it"));
    }
    let written = matches!(text.trim_ascii_start().as_bytes().first(), Some(b'{' | b'['));
    if written && (wants("object") || wants("array")) {
        let inner = parse_json(text).ok()?;
        let fits = (inner.is_object() && wants("object")) || (inner.is_array() && wants("array"));
        return fits.then_some((inner, "a text became the object or list written in it"));
    }
    None
}

/// The number that a text is, in the one form in which it is written: one that would be rounded has another.
fn exact_number(text: &str) -> Option<Value> {
    let number = parse_json(text).ok()?;
    let written = number.to_string();
    (number.is_number() && written == text).then_some(number)
}

/// The one of these strings that differs from the value in case alone.
pub(super) fn other_case<'a>(value: &Value, allowed: impl Iterator<Item = &'a Value>) -> Option<&'a Value> {
    let text = value.as_str()?;
    let same = |allowed: &&Value| allowed.as_str().is_some_and(|allowed| allowed.eq_ignore_ascii_case(text));
    let mut found = allowed.filter(same);
    let one = found.next()?;
    found.next().is_none().then_some(one)
}
