//! Characters of a question that do not show. They are looked for in what a document means, since JSON may spell them
//! as escapes.

use portcullis::text::is_deceptive;
use serde_json::Value;

/// How many characters of the names and texts in a JSON document do not show, line breaks and tabs aside; nothing where
/// it cannot be read, and so cannot be vouched for.
pub(super) fn count(json: &str) -> Option<usize> {
    serde_json::from_str(json).ok().map(|value| of_value(&value))
}

/// How many characters of a text do not show, line breaks and tabs aside.
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
    fn ordinary_arguments_are_not_called_hidden() {
        assert_eq!(count(r#"{"text":"two\nlines\tand é 日本"}"#), Some(0));
        assert_eq!(count(r#"{"text":"a\u200bb","l":["\u202e\u202e"]}"#), Some(3));
        assert_eq!(count(r#"{"a\u001b":1}"#), Some(1));
        assert_eq!(count("{"), None);
    }
}
