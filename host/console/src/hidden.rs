//! Counts the invisible characters of a request. JSON is parsed first, because it may spell them as escapes.

use portcullis::text::is_deceptive;
use serde_json::Value;

/// Counts the invisible characters in the names and texts of a JSON document, except line breaks and tabs. Returns
/// `None` if the document cannot be parsed.
pub(crate) fn in_json(json: &str) -> Option<usize> {
    serde_json::from_str(json).ok().map(|value| in_value(&value))
}

/// Counts the invisible characters of a text, except line breaks and tabs.
pub(crate) fn in_text(text: &str) -> usize {
    let hidden = |character: &char| is_deceptive(*character) && !matches!(character, '\n' | '\r' | '\t');
    text.chars().filter(hidden).count()
}

fn in_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => in_text(text),
        Value::Array(items) => items.iter().map(in_value).sum(),
        Value::Object(members) => members.iter().map(|(name, member)| in_text(name) + in_value(member)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_json_are_counted_and_ordinary_text_is_not() {
        assert_eq!(in_json(r#"{"text":"two\nlines\tand é"}"#), Some(0));
        assert_eq!(in_json(r#"{"text":"a\u200bb","l":["\u202e\u202e"]}"#), Some(3));
        assert_eq!(in_json("{"), None);
    }
}
