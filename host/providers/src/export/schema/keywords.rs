//! The meaning of the keywords of JSON Schema 2020-12.

/// Keywords that identify or comment a schema but do not describe values. They are for its maintainers, so omitting
/// them is not a loss. `$schema` is one of them, because there is only one dialect.
const STRUCTURE: [&str; 7] = ["$anchor", "$comment", "$defs", "$id", "$schema", "definitions", "$vocabulary"];

/// Keywords that describe a value but never refuse one.
const ANNOTATIONS: [&str; 7] = ["default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"];

/// Returns whether a keyword does not describe values.
pub(super) fn is_structure(keyword: &str) -> bool {
    STRUCTURE.contains(&keyword)
}

/// Returns whether a keyword never refuses a value.
pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || is_structure(keyword)
}
