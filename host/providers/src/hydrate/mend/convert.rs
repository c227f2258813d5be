//! Converts a value to an equivalent value of the expected type.

use portcullis::parse_json;
use serde_json::Value;

/// Returns whether a value has a type of JSON Schema.
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

/// Converts a value to an expected type. Returns the new value and what was done.
pub(super) fn convert(value: &Value, wants: &dyn Fn(&str) -> bool) -> Option<(Value, &'static str)> {
    let written = match value {
        Value::String(text) => from_text(text, wants),
        // A float has several spellings, and the model may have meant another one.
        Value::Number(number) if wants("string") && !number.is_f64() => {
            Some((Value::String(number.to_string()), "a whole number was converted to a string"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    };
    // Null is not converted to a list with one item.
    let alone = || {
        let list = wants("array") && !value.is_null() && !value.is_array();
        list.then(|| (Value::Array(vec![value.clone()]), "a value was wrapped in a list"))
    };
    written.or_else(alone)
}

fn from_text(text: &str, wants: &dyn Fn(&str) -> bool) -> Option<(Value, &'static str)> {
    if (wants("integer") || wants("number"))
        && let Some(number) = exact_number(text).filter(|number| wants("number") || is_of(number, "integer"))
    {
        return Some((number, "a string was parsed as a number"));
    }
    let truth = |word: &str| text.eq_ignore_ascii_case(word);
    if wants("boolean") && (truth("true") || truth("false")) {
        return Some((Value::Bool(truth("true")), "a string was parsed as a boolean"));
    }
    let written = matches!(text.trim_ascii_start().as_bytes().first(), Some(b'{' | b'['));
    if written && (wants("object") || wants("array")) {
        let inner = parse_json(text).ok()?;
        let fits = (inner.is_object() && wants("object")) || (inner.is_array() && wants("array"));
        return fits.then_some((inner, "a string was parsed as an object or a list"));
    }
    None
}

/// Parses a number that is written in its canonical form. A number that would be rounded is not.
fn exact_number(text: &str) -> Option<Value> {
    let number = parse_json(text).ok()?;
    let written = number.to_string();
    (number.is_number() && written == text).then_some(number)
}

/// Returns the only one of these strings that differs from the value only in case.
pub(super) fn other_case<'a>(value: &Value, allowed: impl Iterator<Item = &'a Value>) -> Option<&'a Value> {
    let text = value.as_str()?;
    let same = |allowed: &&Value| allowed.as_str().is_some_and(|allowed| allowed.eq_ignore_ascii_case(text));
    let mut found = allowed.filter(same);
    let one = found.next()?;
    found.next().is_none().then_some(one)
}
