//! Counts the invisible characters of a request. JSON is parsed first, because it may spell them as escapes.

use portcullis::text::is_deceptive;
use serde_json::Value;

/// Counts the invisible characters in the names and texts of a JSON document, except line breaks and tabs. Returns
/// `None` if the document cannot be parsed.
pub(super) fn count(json: &str) -> Option<usize> {
    serde_json::from_str(json).ok().map(|value| of_value(&value))
}

/// Counts the invisible characters of a text, except line breaks and tabs.
pub(super) fn of_text(text: &str) -> usize {
    let hidden = |character: &char| is_deceptive(*character) && !matches!(character, '\n' | '\r' | '\t');
    text.chars().filter(hidden).count()
}

fn of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => of_text(text),
        Value::Array(items) => items.iter().map(of_value).sum(),
        Value::Object(members) => members.iter().map(|(name, member)| of_text(name) + of_value(member)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_has_no_invisible_characters() {
        assert_eq!(count(r#"{"text":"two\nlines\tand é 日本"}"#), Some(0));
        assert_eq!(count(r#"{"text":"a\u200bb","l":["\u202e\u202e"]}"#), Some(3));
        assert_eq!(count(r#"{"a\u001b":1}"#), Some(1));
        assert_eq!(count("{"), None);
    }
}
