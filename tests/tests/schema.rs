//! The schemas of the program's JSON documents, in `docs/json`.

use serde_json::Value;
use std::fs;
use std::path::Path;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/json");

/// Asserts that a document is valid under the schema of this name.
#[track_caller]
#[allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read the documentation")]
pub(crate) fn assert_valid(schema: &str, document: &Value) {
    let path = Path::new(DIRECTORY).join(format!("{schema}.schema.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let validator = jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{schema}: {errors:#?}\n{document:#}");
}

/// Returns the names of all schemas.
#[allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read the documentation")]
pub(crate) fn names() -> Vec<String> {
    let files = fs::read_dir(DIRECTORY).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        files.map(|file| file.strip_suffix(".schema.json").unwrap_or_else(|| panic!("{file}")).to_owned()).collect();
    names.sort_unstable();
    names
}
