//! Results for programs: one JSON document on one line.

mod kind;

pub(crate) use kind::DocumentKind;
pub(crate) use portcullis::text::indent_json as indent;
use portcullis::text::is_deceptive;
use serde::Serialize;
use std::fmt::Write;

/// A document with its version as the first member.
#[derive(Serialize)]
struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    document: &'a T,
}

/// Serializes a document of a kind to one line with its line break, after the version of its kind.
///
/// # Errors
/// The value has no JSON, or is no object.
pub(crate) fn document(kind: DocumentKind, value: &impl Serialize) -> serde_json::Result<String> {
    line(&Versioned { version: kind.version(), document: value })
}

/// Serializes a value to one line with its line break. The documents of commands go through [`document`]. Escapes
/// characters that could deceive a reader of a terminal;
/// to a program the document is the same.
///
/// # Errors
/// The value has no JSON.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = escape(serde_json::to_string(value)?);
    text.push('\n');
    Ok(text)
}

/// Replaces deceptive characters in JSON text with `\u` escapes. JSON has them only inside strings.
fn escape(json: String) -> String {
    if !json.contains(is_deceptive) {
        return json;
    }
    let mut text = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        if is_deceptive(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deceptive_characters_are_spelt_out_and_the_document_stays() {
        let value = serde_json::json!({"a\u{202e}": "\u{1b}[2J \u{9b} \u{e0041} é\n"});
        let line = line(&value).unwrap();
        assert!(!line.trim_end_matches('\n').contains(is_deceptive), "{line:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn indenting_keeps_every_token() {
        let json = r#"{"a":[1.50,{},[]],"b\"{,":"x\\","c":{"d":12345678901234567890}}"#;
        let indented = indent(json);
        let expected = r#"{
  "a": [
    1.50,
    {},
    []
  ],
  "b\"{,": "x\\",
  "c": {
    "d": 12345678901234567890
  }
}"#;
        assert_eq!(indented, expected);
        assert_eq!(indent(&indented), expected);
    }
}
