//! What the keywords of JSON Schema 2020-12 say.

/// Keywords that name, number or comment a schema and say nothing of a value. They are for whoever maintains it: an
/// export without them says as much, so that it is no loss. `$schema` is one of them, since there is one dialect.
const STRUCTURE: [&str; 7] = ["$anchor", "$comment", "$defs", "$id", "$schema", "definitions", "$vocabulary"];

/// Keywords that tell of a value and refuse none.
const ANNOTATIONS: [&str; 7] = ["default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"];

/// Whether a keyword says nothing of a value.
pub(super) fn is_structure(keyword: &str) -> bool {
    STRUCTURE.contains(&keyword)
}

/// Whether a keyword refuses no value.
pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || is_structure(keyword)
}
