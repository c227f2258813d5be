//! Warnings: problems of a policy that do not stop a host. The operator sees them, and the host opens.

use crate::catalog::Catalog;
use portcullis_definitions::nearest::nearest;
use portcullis_policy::{PluginName, Policy};
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
        }
    }
}

/// Returns the warnings for a policy with the plugins of a catalog.
pub(crate) fn warnings(policy: &Policy, catalog: &Catalog, loading: Vec<PluginName>) -> Vec<PolicyWarning> {
    let installed = installed(catalog, loading);
    let unknown = policy.plugins().filter(|plugin| !installed.contains(plugin));
    unknown
        .map(|plugin| PolicyWarning::UnknownPlugin { plugin: plugin.clone(), similar: similar(plugin, &installed) })
        .collect()
}

/// Returns the loaded plugins, and those that load or whose file was refused: their grants apply once they load.
fn installed(catalog: &Catalog, loading: Vec<PluginName>) -> Vec<PluginName> {
    let refused = catalog.refused().iter().filter_map(|refused| refused.file.strip_suffix(".wasm"));
    let refused = refused.filter_map(|name| PluginName::new(name).ok());
    let left_out = catalog.left_out.iter().cloned();
    let loaded = catalog.plugins().map(|plugin| plugin.name().clone());
    loaded.chain(refused).chain(left_out).chain(loading).collect()
}

fn similar(written: &PluginName, installed: &[PluginName]) -> Option<PluginName> {
    let nearest = nearest(written.as_str(), installed.iter().map(PluginName::as_str))?;
    installed.iter().find(|name| name.as_str() == nearest).cloned()
}
