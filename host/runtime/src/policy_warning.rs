//! Warnings: problems of a policy that do not stop a host. The operator sees them, and the host opens.

use crate::catalog::Catalog;
use portcullis_definitions::nearest::nearest;
use portcullis_policy::{PluginName, Policy, ToolPattern, ToolsetName};
use std::fmt;

/// Something in the policy that the operator should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyWarning {
    /// The policy names a plugin that is not installed.
    UnknownPlugin {
        /// The name in the policy.
        plugin: PluginName,
        /// An installed plugin with almost the same name.
        similar: Option<PluginName>,
    },
    /// No installed tool is in a toolset that the policy defines.
    EmptyToolset {
        /// The toolset.
        toolset: ToolsetName,
    },
    /// A toolset names a tool that its plugin does not have.
    UnknownTool {
        /// The pattern in the policy.
        pattern: String,
        /// A tool with almost the same name.
        similar: Option<String>,
    },
}

impl PolicyWarning {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::UnknownPlugin { .. } => "install the plugin, or correct the name",
            Self::EmptyToolset { .. } => "add tools to the toolset; `portcullis list` shows their names",
            Self::UnknownTool { .. } => "correct the name; `portcullis list` shows the tools",
        }
    }
}

impl fmt::Display for PolicyWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPlugin { plugin, similar } => {
                write!(
                    formatter,
                    "the policy names the plugin `{plugin}`, but the plugin directory has no {plugin}.wasm; its \
                     settings have no effect until it is installed"
                )?;
                match similar {
                    Some(similar) => write!(formatter, ". Did you mean `{similar}`?"),
                    None => Ok(()),
                }
            }
            Self::EmptyToolset { toolset } => {
                write!(formatter, "no installed tool is in the toolset `{toolset}`, so it offers none")
            }
            Self::UnknownTool { pattern, similar } => {
                write!(formatter, "a toolset names `{pattern}`, but the plugin has no such tool")?;
                match similar {
                    Some(similar) => write!(formatter, ". Did you mean `{similar}`?"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Returns the warnings for a policy with the plugins of a catalog.
pub(crate) fn warnings(policy: &Policy, catalog: &Catalog, loading: Vec<PluginName>) -> Vec<PolicyWarning> {
    let installed = installed(policy, catalog, loading);
    let unknown = policy.plugins().filter(|plugin| !installed.contains(plugin));
    let unknown = unknown
        .map(|plugin| PolicyWarning::UnknownPlugin { plugin: plugin.clone(), similar: similar(plugin, &installed) });
    unknown.chain(unknown_tools(policy, catalog)).chain(empty_toolsets(policy, catalog)).collect()
}

/// Returns a warning for each pattern of a toolset that names only loaded plugins and matches none of their tools.
fn unknown_tools(policy: &Policy, catalog: &Catalog) -> Vec<PolicyWarning> {
    let names: Vec<String> = catalog.tools().map(|(_, tool)| tool.name().to_string()).collect();
    let is_loaded = |plugin: PluginName| catalog.plugin(plugin.as_str()).is_some();
    let is_unknown = |pattern: &&ToolPattern| {
        pattern.names_every_plugin()
            && pattern.named_plugins().all(is_loaded)
            && !catalog.tools().any(|(_, tool)| pattern.matches(tool.name()))
    };
    let warning = |pattern: &ToolPattern| {
        let pattern = pattern.to_string();
        let similar = nearest(&pattern, names.iter().map(String::as_str)).map(str::to_owned);
        PolicyWarning::UnknownTool { pattern, similar }
    };
    policy.toolset_patterns().filter(is_unknown).map(warning).collect()
}

/// Returns a warning for each toolset without an installed tool. The toolsets that always exist are left out.
fn empty_toolsets(policy: &Policy, catalog: &Catalog) -> Vec<PolicyWarning> {
    let is_empty = |toolset: &&ToolsetName| {
        let Ok(selection) = policy.toolset(toolset.as_str()) else { return false };
        !catalog.tools().any(|(_, tool)| selection.contains(tool.name(), tool.permissions()))
    };
    let empty = policy.defined_toolsets().filter(is_empty);
    empty.map(|toolset| PolicyWarning::EmptyToolset { toolset: toolset.clone() }).collect()
}

/// Returns the loaded plugins, those that load or whose file was refused, and the servers, which have no file. Their
/// grants apply once they load.
fn installed(policy: &Policy, catalog: &Catalog, loading: Vec<PluginName>) -> Vec<PluginName> {
    let refused = catalog.refused().iter().filter_map(|refused| refused.file.strip_suffix(".wasm"));
    let refused = refused.filter_map(|name| PluginName::new(name).ok());
    let left_out = catalog.left_out.iter().cloned();
    let loaded = catalog.plugins().map(|plugin| plugin.name().clone());
    let servers = policy.servers().cloned();
    loaded.chain(refused).chain(left_out).chain(loading).chain(servers).collect()
}

fn similar(written: &PluginName, installed: &[PluginName]) -> Option<PluginName> {
    let nearest = nearest(written.as_str(), installed.iter().map(PluginName::as_str))?;
    installed.iter().find(|name| name.as_str() == nearest).cloned()
}
