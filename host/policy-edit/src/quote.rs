//! Writes values of TOML.
//!
//! This file must not know what a value means.

use std::fmt::Write;

use crate::edit::WhenValue;

/// Returns a text as a basic string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for character in text.chars() {
        match character {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\t' => written.push_str("\\t"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            character if character.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(written, "\\u{:04X}", u32::from(character));
            }
            character => written.push(character),
        }
    }
    written.push('"');
    written
}

/// Returns a key, in quotes if it needs them.
pub(crate) fn key(text: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_bare) { text.to_owned() } else { quoted(text) }
}

/// Returns a list of texts.
pub(crate) fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Returns the table of a `when`.
pub(crate) fn when(entries: &[(String, Vec<WhenValue>)]) -> String {
    let value = |value: &WhenValue| match value {
        WhenValue::Text(text) => quoted(text),
        WhenValue::Integer(number) => number.to_string(),
        WhenValue::Boolean(boolean) => boolean.to_string(),
    };
    let entry = |(name, values): &(String, Vec<WhenValue>)| {
        let values: Vec<String> = values.iter().map(value).collect();
        match values.as_slice() {
            [only] => format!("{} = {only}", key(name)),
            several => format!("{} = [{}]", key(name), several.join(", ")),
        }
    };
    let entries: Vec<String> = entries.iter().map(entry).collect();
    format!("{{ {} }}", entries.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_survives_quoting() {
        for text in ["", "a\"b", "a\\b", "\u{1}\u{7f}\u{85}\t\r\n", "é𐐷", "'''", "# no comment"] {
            let document = toml_edit::Document::parse(format!("a = {}", quoted(text))).unwrap();
            assert_eq!(document["a"].as_str(), Some(text));
        }
    }

    #[test]
    fn only_bare_keys_have_no_quotes() {
        assert_eq!([key("path"), key("/a/b"), key("")], ["path", "\"/a/b\"", "\"\""]);
    }
}
