//! Members of a JSON object, read with their exact type.
//!
//! A member of the wrong type is an error and never an absent member: `null` is a value.

use portcullis_policy::json;
use serde_json::{Map, Value};

/// A member that is missing, or that has another type than it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongMember(pub(crate) &'static str);

/// Parses bytes as one JSON object: UTF-8 throughout, no duplicate keys, bounded depth.
pub(crate) fn parse_object(bytes: &[u8]) -> Option<Map<String, Value>> {
    match json::parse(std::str::from_utf8(bytes).ok()?) {
        Ok(Value::Object(members)) => Some(members),
        Ok(_) | Err(_) => None,
    }
}

/// Returns a string member, or none if it is absent.
pub(crate) fn text<'a>(members: &'a Map<String, Value>, name: &'static str) -> Result<Option<&'a str>, WrongMember> {
    match members.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(WrongMember(name)),
    }
}

/// Returns a string member, or an error if it is absent.
pub(crate) fn required<'a>(members: &'a Map<String, Value>, name: &'static str) -> Result<&'a str, WrongMember> {
    text(members, name)?.ok_or(WrongMember(name))
}

/// Returns a finite number, or none if it is absent.
pub(crate) fn number(members: &Map<String, Value>, name: &'static str) -> Result<Option<f64>, WrongMember> {
    match members.get(name) {
        None => Ok(None),
        Some(Value::Number(number)) => match number.as_f64().filter(|number| number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(WrongMember(name)),
        },
        Some(_) => Err(WrongMember(name)),
    }
}

/// Returns a member that is a list of strings.
pub(crate) fn texts<'a>(
    members: &'a Map<String, Value>,
    name: &'static str,
) -> Result<Option<Vec<&'a str>>, WrongMember> {
    match members.get(name) {
        None => Ok(None),
        Some(Value::Array(items)) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            texts.map(Some).ok_or(WrongMember(name))
        }
        Some(_) => Err(WrongMember(name)),
    }
}

/// Returns a member that is a string or a list of strings.
pub(crate) fn one_or_more<'a>(
    members: &'a Map<String, Value>,
    name: &'static str,
) -> Result<Option<Vec<&'a str>>, WrongMember> {
    match members.get(name) {
        Some(Value::String(text)) => Ok(Some(vec![text])),
        _ => texts(members, name),
    }
}
