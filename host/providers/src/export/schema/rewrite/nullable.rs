//! Allows null in schemas of the OpenAPI dialect.

use super::rewriter::BuiltSchema;
use serde_json::Value;

/// Allows null in an OpenAPI schema. Alternatives cannot have other keywords next to them, so one of them gets the
/// flag.
pub(super) fn allow_null(built: &mut BuiltSchema) {
    let first = built.get_mut("anyOf").and_then(Value::as_array_mut).and_then(|branches| branches.first_mut());
    match first.and_then(Value::as_object_mut) {
        Some(first) => drop(first.insert("nullable".to_owned(), Value::Bool(true))),
        None => drop(built.insert("nullable".to_owned(), Value::Bool(true))),
    }
}
