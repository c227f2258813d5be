//! From the bytes of a call to the struct of a tool. Owns the texts that tell a model what was wrong where.

use serde::de::DeserializeOwned;

use crate::Failure;

/// Parses the arguments of a call. The host has checked them against the schema; what fails here is what a schema
/// cannot say, such as a `deserialize_with` that refuses a value.
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

/// What is wrong, without the line and column: the host has written the JSON anew, and the model never saw it.
fn text(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) if error.line() > 0 => text[..end].to_owned(),
        Some(_) | None => text,
    }
}
