//! Parses the arguments of a call, with error texts that tell a model what is wrong and where.

use serde::de::DeserializeOwned;

use crate::Failure;

/// Parses the arguments of a call. The host has already validated them against the schema. Only checks that a schema
/// cannot express fail here, such as a `deserialize_with` that refuses a value.
pub fn parse<T: DeserializeOwned>(json: &str) -> Result<T, Failure> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let arguments = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        match path.as_str() {
            "." => Failure::InvalidArguments(text(error.inner())),
            path => Failure::InvalidArguments(format!("`{path}`: {}", text(error.inner()))),
        }
    })?;
    deserializer.end().map_err(|error| Failure::InvalidArguments(text(&error)))?;
    Ok(arguments)
}

/// Returns the error text without line and column. They refer to JSON that the host wrote and the model never saw.
fn text(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) if error.line() > 0 => text[..end].to_owned(),
        Some(_) | None => text,
    }
}
