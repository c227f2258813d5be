//! Compares JSON by value and finds the first difference.

use serde_json::{Number, Value};

/// The placeholder for any value in an expected document, such as an identifier, a time or a random number.
const ANY: &str = "${any}";

/// Maximum characters of a value to show.
const SHOWN_CHARACTERS_MAX: usize = 300;

/// Returns the first place where a document differs from the expected one.
pub(super) fn difference(expected: &Value, found: &Value) -> Option<String> {
    differ(expected, found, "")
}

fn differ(expected: &Value, found: &Value, at: &str) -> Option<String> {
    match (expected, found) {
        (Value::String(text), _) if text == ANY => None,
        (Value::Number(one), Value::Number(other)) if is_same(one, other) => None,
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let mut pairs = expected.iter().zip(found).enumerate();
            pairs.find_map(|(index, (expected, found))| differ(expected, found, &format!("{at}/{index}")))
        }
        (Value::Object(expected), Value::Object(found)) => {
            let step = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            let more = found.keys().find(|name| !expected.contains_key(*name));
            let missing = || {
                expected.iter().find_map(|(name, value)| match found.get(name) {
                    Some(found) => differ(value, found, &step(name)),
                    None => Some(format!("{}: expected {}, found nothing", place(&step(name)), shown(value))),
                })
            };
            missing().or_else(|| {
                let name = more?;
                let value = found.get(name).unwrap_or(&Value::Null);
                Some(format!("{}: expected nothing, found {}", place(&step(name)), shown(value)))
            })
        }
        _ if expected == found => None,
        _ => Some(format!("{}: expected {}, found {}", place(at), shown(expected), shown(found))),
    }
}

/// Returns whether two numbers have the same value, such as 1 and 1.0.
fn is_same(one: &Number, other: &Number) -> bool {
    match (whole(one), whole(other)) {
        // A floating-point number would make different large integers equal.
        (Some(one), Some(other)) => one == other,
        _ => one.as_f64() == other.as_f64(),
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Formats a JSON Pointer. Quotes it, because its names come from the document.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the whole value".to_owned() } else { quoted(pointer) }
}

fn shown(value: &Value) -> String {
    short(&value.to_string())
}

/// Cuts a text for display. If it is cut, adds its full length.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// Formats a text on one line, as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    short(&Value::from(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_compared_by_value() {
        assert_eq!(difference(&json!({"a": 1, "b": [1e300]}), &json!({"b": [1e300], "a": 1.0})), None);
        assert_eq!(difference(&json!(u64::MAX), &json!(u64::MAX)), None);
        assert!(difference(&json!(9_007_199_254_740_993_i64), &json!(9_007_199_254_740_992_i64)).is_some());
        assert!(difference(&json!("1"), &json!(1)).is_some());
    }

    #[test]
    fn the_first_difference_is_reported_with_its_place() {
        let told = |expected: Value, found: Value| difference(&expected, &found).unwrap();
        assert_eq!(told(json!({"a/b": [1, 2]}), json!({"a/b": [1, 3]})), "\"/a~1b/1\": expected 2, found 3");
        assert_eq!(told(json!({"a": 1}), json!({})), "\"/a\": expected 1, found nothing");
        assert_eq!(told(json!({}), json!({"a": 1})), "\"/a\": expected nothing, found 1");
        assert_eq!(told(json!(null), json!([])), "the whole value: expected null, found []");
        assert_eq!(told(json!([1]), json!([])), "the whole value: expected [1], found []");
    }

    #[test]
    fn a_name_is_quoted_and_cut_like_any_other_text() {
        let found = difference(&json!({"a": {}}), &json!({"a": {"\n: expected": 1}})).unwrap();
        assert_eq!(found, "\"/a/\\n: expected\": expected nothing, found 1");
        let long = "x".repeat(100_000);
        let found = difference(&json!({}), &json!({ long: 1 })).unwrap();
        assert!(found.len() < 400 && found.contains("(100003 bytes): expected nothing"), "{found}");
    }

    #[test]
    fn the_placeholder_matches_any_value() {
        assert_eq!(difference(&json!({"id": "${any}"}), &json!({"id": [1]})), None);
        assert!(difference(&json!({"id": "${any}"}), &json!({})).is_some());
    }
}
