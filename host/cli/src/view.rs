//! A plugin as `inspect` and `check` show it, from the catalog or from a file.

use crate::plugin_file::ReadPluginFile;
use crate::policy_lines;
use data_encoding::HEXLOWER;
use portcullis::Host;
use portcullis::plugins::{Contract, DependencyKind, Hint, Manifest, Plugin, Surface};
use portcullis::policy::Permissions;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A plugin. Its texts come from the author and are not encoded.
#[derive(Debug, Serialize)]
pub(crate) struct PluginView {
    pub(crate) name: String,
    /// The plugin's own version. `version` is that of the document.
    #[serde(rename = "plugin_version")]
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    /// Whether it is built into the host and has no file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) standard: bool,
    /// Whether its tools are functions of an application, without a sandbox.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) native: bool,
    /// Whether it is an MCP server that the policy names.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) server: bool,
    /// The version of the contract that it implements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contract: Option<&'static str>,
    pub(crate) imports: Vec<String>,
    /// Whether it has a reviewer for its calls.
    pub(crate) reviews: bool,
    /// Whether it previews what its calls would change in files.
    pub(crate) previews: bool,
    /// Whether it makes tools from its settings and its directories.
    pub(crate) generates: bool,
    /// Whether it offers some callers less of its tools.
    pub(crate) prepares: bool,
    pub(crate) dependencies: Vec<DependencyView>,
    pub(crate) tools: Vec<ToolView>,
    /// The lines that the policy lacks for its tools to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) policy_lines: Option<String>,
}

/// A handle that a plugin asks for.
#[derive(Debug, Serialize)]
pub(crate) struct DependencyView {
    pub(crate) key: String,
    pub(crate) kind: DependencyKind,
    pub(crate) optional: bool,
    pub(crate) reason: String,
}

/// A tool.
#[derive(Debug, Serialize)]
pub(crate) struct ToolView {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) required: Permissions,
    pub(crate) optional: Permissions,
    pub(crate) hints: Vec<Hint>,
    pub(crate) schema: Value,
    pub(crate) output_schema: Option<Value>,
    /// The handles that a call would get, one line each. `None` without a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) handles: Option<Vec<String>>,
}

impl PluginView {
    /// Returns the view of a plugin of the catalog, with what the policy grants it.
    pub(crate) fn of_plugin(host: &Host, plugin: &Plugin) -> Self {
        let mut handles: BTreeMap<String, Vec<String>> = host.handles(plugin).into_iter().collect();
        let tools = plugin.tools().map(|tool| {
            let name = tool.name().to_string();
            ToolView {
                handles: handles.remove(&name),
                name,
                title: tool.title().map(str::to_owned),
                description: tool.description().to_owned(),
                required: tool.required(),
                optional: tool.optional(),
                hints: tool.hints().to_vec(),
                schema: tool.schema().document().clone(),
                output_schema: tool.output_schema().map(|schema| schema.document().clone()),
            }
        });
        let dependencies = plugin.dependencies().iter().map(|(key, dependency)| DependencyView {
            key: key.to_string(),
            kind: dependency.kind,
            optional: dependency.optional,
            reason: dependency.reason.clone(),
        });
        Self {
            name: plugin.name().to_string(),
            version: plugin.version().to_owned(),
            description: plugin.description().to_owned(),
            sha256: HEXLOWER.encode(&plugin.sha256()),
            bytes: plugin.bytes(),
            standard: plugin.is_standard(),
            native: plugin.is_native(),
            server: plugin.is_server(),
            contract: plugin.contract().map(Contract::as_str),
            imports: plugin.imports().to_vec(),
            reviews: plugin.reviews(),
            previews: plugin.previews(),
            generates: plugin.generates(),
            prepares: plugin.prepares(),
            dependencies: dependencies.collect(),
            tools: tools.collect(),
            policy_lines: policy_lines::of_plugin(host, plugin),
        }
    }

    /// Returns the view of a plugin file.
    pub(crate) fn of_manifest(manifest: &Manifest, file: &ReadPluginFile) -> Self {
        let document = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        let tools = manifest.tools.iter().map(|tool| ToolView {
            name: format!("{}.{}", manifest.name, tool.name),
            title: tool.title.clone(),
            description: tool.description.clone(),
            required: tool.required,
            optional: tool.optional,
            hints: tool.hints.clone(),
            schema: document(&tool.schema),
            output_schema: tool.output_schema.as_deref().map(document),
            handles: None,
        });
        let dependencies = manifest.dependencies.iter().map(|dependency| DependencyView {
            key: dependency.key.clone(),
            kind: dependency.kind,
            optional: dependency.optional,
            reason: dependency.reason.clone(),
        });
        // A component with a manifest has loaded, so this does not fail.
        let Surface { imports, reviews, previews, generates, prepares } = Surface::of(&file.bytes).unwrap_or_default();
        Self {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            description: manifest.description.clone(),
            sha256: HEXLOWER.encode(&file.sha256()),
            bytes: file.bytes.len() as u64,
            standard: false,
            native: false,
            server: false,
            contract: portcullis::plugins::check_component(&file.bytes).ok().map(Contract::as_str),
            imports,
            reviews,
            previews,
            generates,
            prepares,
            dependencies: dependencies.collect(),
            tools: tools.collect(),
            policy_lines: policy_lines::of_manifest(manifest),
        }
    }
}

/// Returns the word for a hint.
pub(crate) fn hint(hint: Hint) -> &'static str {
    match hint {
        Hint::ReadOnly => "read-only",
        Hint::Destructive => "destructive",
        Hint::Idempotent => "idempotent",
        Hint::OpenWorld => "open-world",
        Hint::Sequential => "sequential",
    }
}

/// Returns the permissions as text, or `none`.
pub(crate) fn permissions(permissions: Permissions) -> String {
    if permissions.is_empty() { "none".to_owned() } else { permissions.to_string() }
}

/// Formats a number of bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    // The size is only displayed, so the precision of a float is enough.
    let scaled = |unit: u32| bytes as f64 / f64::from(1_u32 << unit);
    match bytes {
        0..=1023 => format!("{bytes} bytes"),
        1024..=1_048_575 => format!("{:.1} KiB", scaled(10)),
        _ => format!("{:.1} MiB", scaled(20)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_the_unit_that_fits() {
        let rows = [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB")];
        for (bytes, shown) in rows {
            assert_eq!(size(bytes), shown);
        }
    }
}
