//! One service, as the package describes it.

use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// A service.
pub(super) struct Model {
    /// The service's name.
    pub(super) service: String,
    /// The version of the service's interface: a date.
    pub(super) version: String,
    document: Value,
}

/// An operation of a service.
pub(super) struct Operation<'a> {
    /// The operation's name in camel case.
    pub(super) name: &'a str,
    /// The documentation as HTML.
    pub(super) documentation: &'a str,
    /// The name of the arguments' shape, or `None` if there are no arguments.
    pub(super) input: Option<&'a str>,
}

impl Model {
    /// Reads the only version in a service's folder.
    pub(super) fn read(folder: &Path) -> Self {
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let versions: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        let [version] = versions.as_slice() else { panic!("{}: not one version", folder.display()) };
        let text = fs::read(version.join("service-2.json")).unwrap();
        let document = serde_json::from_slice(&text).unwrap();
        Self { service: name(folder), version: name(version), document }
    }

    /// Returns the documentation of the service as HTML.
    pub(super) fn documentation(&self) -> &str {
        text(&self.document, "documentation")
    }

    /// Returns the operations by name, without deprecated ones.
    pub(super) fn operations(&self) -> Vec<Operation<'_>> {
        let operations = members(&self.document, "operations").iter();
        let mut operations: Vec<_> = operations
            .filter(|(_, operation)| operation.get("deprecated") != Some(&Value::Bool(true)))
            .map(|(name, operation)| Operation {
                name,
                documentation: text(operation, "documentation"),
                input: operation.pointer("/input/shape").and_then(Value::as_str),
            })
            .collect();
        operations.sort_by_key(|operation| operation.name);
        operations
    }

    /// Returns a shape.
    pub(super) fn shape(&self, name: &str) -> &Value {
        &self.document["shapes"][name]
    }
}

/// Returns a text member of an object, or an empty text.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the members of an object member.
pub(super) fn members<'a>(object: &'a Value, name: &str) -> &'a Map<String, Value> {
    object.get(name).and_then(Value::as_object).unwrap_or_else(|| panic!("no {name}"))
}
