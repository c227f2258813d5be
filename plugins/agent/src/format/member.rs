//! Reads the members of an answer.

use portcullis_sdk::serde_json::{Map, Value};

/// Why an answer cannot be used. The text is for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) String);

pub(super) fn malformed(what: &str) -> Malformed {
    Malformed(what.to_owned())
}

/// Returns a text that may be absent or null.
pub(super) fn optional_text(value: Option<&Value>, what: &str) -> Result<String, Malformed> {
    match value {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(malformed(&format!("{what} is not a text"))),
    }
}

/// Returns a text that must be there and not be empty.
pub(super) fn required_text(value: Option<&Value>, what: &str) -> Result<String, Malformed> {
    let text = optional_text(value, what)?;
    if text.is_empty() { Err(malformed(&format!("{what} is missing"))) } else { Ok(text) }
}

/// Returns a list that may be absent or null.
pub(super) fn optional_list<'a>(value: Option<&'a Value>, what: &str) -> Result<&'a [Value], Malformed> {
    match value {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(malformed(&format!("{what} is not a list"))),
    }
}

/// Returns arguments if they are an object, and otherwise what the model wrote.
pub(super) fn object(value: Option<&Value>) -> Result<Value, String> {
    match value {
        Some(value @ Value::Object(_)) => Ok(value.clone()),
        None | Some(Value::Null) => Ok(Value::Object(Map::new())),
        Some(other) => Err(other.to_string()),
    }
}
