//! Schemas of every kind as tools, for the exports to model providers. Each is a file in `tests/data/schemas` with a
//! description, the schema, and arguments that match it and that do not.

use crate::{Manifest, Site, Tool, guest};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The plugin with a tool for every schema.
pub const PLUGIN: &str = "corpus";

/// A schema, and arguments for it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the file and of the tool.
    pub name: String,
    /// A description of what it tests.
    pub description: String,
    /// The schema.
    pub schema: Value,
    /// Arguments that match.
    pub valid: Vec<Value>,
    /// Arguments that do not match.
    pub invalid: Vec<Value>,
}

/// Returns all cases by name.
pub fn schemas() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/schemas");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| case(file)).collect()
}

fn case(file: &Path) -> Case {
    let text = fs::read_to_string(file).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut take =
        |key: &str| document.get_mut(key).map(Value::take).unwrap_or_else(|| panic!("{}: {key}", file.display()));
    let list = |value: Value| value.as_array().cloned().unwrap_or_else(|| panic!("{}", file.display()));
    Case {
        name: file.file_stem().unwrap().to_string_lossy().into_owned(),
        description: take("description").as_str().unwrap().to_owned(),
        schema: take("schema"),
        valid: list(take("valid")),
        invalid: list(take("invalid")),
    }
}

/// Builds the plugin with a tool for each of these schemas, in the host's order of names.
pub fn plugin(cases: &[Case]) -> Vec<u8> {
    let tool = |case: &Case| Tool {
        description: case.description.clone(),
        schema: case.schema.to_string(),
        ..Tool::new(&case.name)
    };
    guest("good", &Manifest { tools: cases.iter().map(tool).collect(), ..Manifest::of(PLUGIN) })
}

/// Makes a site with only that plugin.
pub fn site() -> Site {
    let site = Site::new();
    fs::remove_file(site.plugins().join("good.wasm")).unwrap();
    site.plugin(PLUGIN, &plugin(&schemas()));
    site
}
