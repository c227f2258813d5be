//! Counts the characters of a request that cannot be seen. JSON is parsed first, because it may spell them as escapes.

use crate::text::is_deceptive;
use serde_json::Value;

/// Counts the invisible characters of a text, except line breaks and tabs.
///
/// ```
/// use portcullis_definitions::invisible::count_invisible;
///
/// assert_eq!(count_invisible("two\nlines"), 0);
/// assert_eq!(count_invisible("a\u{200b}b"), 1);
/// ```
pub fn count_invisible(text: &str) -> usize {
    let invisible = |character: &char| is_deceptive(*character) && !matches!(character, '\n' | '\r' | '\t');
    text.chars().filter(invisible).count()
}

/// Counts the invisible characters in the names and texts of a JSON document, except line breaks and tabs. Returns
/// `None` if the document cannot be parsed.
pub fn count_invisible_in_json(json: &str) -> Option<usize> {
    serde_json::from_str(json).ok().map(|value| in_value(&value))
}

fn in_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => count_invisible(text),
        Value::Array(items) => items.iter().map(in_value).sum(),
        Value::Object(members) => members.iter().map(|(name, member)| count_invisible(name) + in_value(member)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_json_are_counted_and_ordinary_text_is_not() {
        assert_eq!(count_invisible_in_json(r#"{"text":"two\nlines\tand é 日本"}"#), Some(0));
        assert_eq!(count_invisible_in_json(r#"{"text":"a\u200bb","l":["\u202e\u202e"]}"#), Some(3));
        assert_eq!(count_invisible_in_json(r#"{"a\u001b":1}"#), Some(1));
        assert_eq!(count_invisible_in_json("{"), None);
    }
}
