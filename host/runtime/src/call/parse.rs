//! Step 1: parses the bytes of the arguments into a JSON document. It looks nothing up.

use super::rejection::Rejection;
use crate::json;
use crate::reply::Code;
use crate::request_arguments::RequestArguments;
use crate::text::{OneLine, cut};
use serde_json::{Map, Value};
use std::mem::take;

/// Maximum length of a tool name, in bytes: two names of 64 bytes and a dot.
pub(super) const TOOL_BYTES_MAX: usize = 129;

/// A request whose arguments are one JSON object in canonical form.
pub(crate) struct ParsedCall {
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// The canonical text of the object, which is decided on, approved, hashed and run.
    pub(super) canonical: String,
    /// Whether the arguments were a JSON string that contained the object.
    pub(super) stringified: bool,
}

impl ParsedCall {
    /// Parses the arguments. Takes an object out of them, and leaves a text.
    pub(super) fn parse(tool: &str, given: &mut RequestArguments, bytes_max: usize) -> Result<Self, Rejection> {
        // Before parsing, because a parsed object takes several times the memory of its text.
        if given.bytes() > bytes_max {
            return Err(malformed(format!("they are larger than {bytes_max} bytes. Shorten them")));
        }
        let (arguments, canonical, stringified) = match given {
            RequestArguments::Text(text) => {
                let (arguments, stringified) = object(text)?;
                let canonical = json::canonical(&arguments);
                (arguments, canonical, stringified)
            }
            RequestArguments::Object { members, canonical } => (take(members), take(canonical), false),
        };
        // One byte more than the longest valid name, so that `validate` still sees that a cut name is too long.
        Ok(Self { tool: cut(tool, TOOL_BYTES_MAX + 1).to_owned(), arguments, canonical, stringified })
    }
}

/// Parses the text of arguments. Also returns whether it was a string that contained the object.
fn object(text: &[u8]) -> Result<(Map<String, Value>, bool), Rejection> {
    let text = std::str::from_utf8(text).map_err(|_| malformed("they are not valid UTF-8"))?;
    let (value, stringified) = match json::parse(text).map_err(malformed)? {
        // Many models pass the object as a string. Unwrap one level of it, but not more.
        Value::String(inner) => (json::parse(&inner).map_err(malformed)?, true),
        value => (value, false),
    };
    let Value::Object(arguments) = value else {
        return Err(malformed("they are not a JSON object. Pass one JSON object, such as {\"path\": \"a\"}"));
    };
    Ok((arguments, stringified))
}

fn malformed(why: impl std::fmt::Display) -> Rejection {
    let why = why.to_string();
    let why = OneLine(cut(&why, 400)).to_string();
    Rejection::new(Code::MalformedArguments, format!("The arguments are not usable: {why}."))
}
