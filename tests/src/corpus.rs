//! Schemas of every kind, as tools: what the exports to model providers are tried on. Each is a file in
//! `tests/data/schemas` with a description, the schema, and arguments that fit it and that do not.

use crate::{Manifest, Site, Tool, guest};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The plugin that has a tool for every schema.
pub const PLUGIN: &str = "corpus";

/// A schema, and arguments for it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of its file and its tool: what it tries.
    pub name: String,
    /// The same in words.
    pub description: String,
    /// The schema.
    pub schema: Value,
    /// Arguments that fit.
    pub valid: Vec<Value>,
    /// Arguments that do not.
    pub invalid: Vec<Value>,
}

/// All of them, by name.
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

/// The plugin with a tool for each of these schemas, in the order of the names that the host gives them: by name.
pub fn plugin(cases: &[Case]) -> Vec<u8> {
    let tool = |case: &Case| Tool {
        description: case.description.clone(),
        schema: case.schema.to_string(),
        ..Tool::new(&case.name)
    };
    guest("good", &Manifest { tools: cases.iter().map(tool).collect(), ..Manifest::of(PLUGIN) })
}

/// A site with that plugin and no other.
pub fn site() -> Site {
    let site = Site::new();
    fs::remove_file(site.plugins().join("good.wasm")).unwrap();
    site.plugin(PLUGIN, &plugin(&schemas()));
    site
}
