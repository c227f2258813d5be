//! The plugins of a catalog, and the lookups in it.

use super::file;
use super::load_error::LoadError;
use super::offer::Offer;
use super::picker::Picker;
use super::plugin::Plugin;
use super::server_file::server_of;
use crate::policy_in_force::PolicyInForce;
use portcullis_definitions::tool::Tool;
use portcullis_policy::{Permissions, PluginName, ToolName};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The loaded and refused plugins of a directory. It is immutable: a reload creates a new one.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(crate) plugins: BTreeMap<PluginName, Arc<Plugin>>,
    pub(crate) refused: Vec<RefusedPlugin>,
    /// Plugins of the directory that this host does not load.
    pub(crate) left_out: BTreeSet<PluginName>,
    pub(crate) picker: Picker,
    /// The policy that the plugins' grants come from. A call takes both together, and keeps them.
    pub(crate) policy: Arc<PolicyInForce>,
}

/// A file that was refused.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RefusedPlugin {
    /// The name of the file, or `server.NAME` for a server of the policy. Untrusted text.
    pub file: String,
    /// Why it was refused. Its text is untrusted.
    pub error: Arc<LoadError>,
}

impl Catalog {
    /// Creates a catalog with only the built-in tools, under a policy.
    pub(crate) fn under(policy: &Arc<PolicyInForce>, standard: &[Arc<Plugin>]) -> Self {
        let plugins = standard.iter().map(|plugin| (plugin.name.clone(), Arc::clone(plugin))).collect();
        let (refused, left_out) = (Vec::new(), BTreeSet::new());
        Self { plugins, refused, left_out, picker: Picker::default(), policy: Arc::clone(policy) }
    }

    /// Returns the loaded plugins, sorted by name.
    pub fn plugins(&self) -> impl Iterator<Item = &Plugin> {
        self.plugins.values().map(|plugin| &**plugin)
    }

    /// Returns the refused files, sorted by name.
    pub fn refused(&self) -> &[RefusedPlugin] {
        &self.refused
    }

    /// Returns all tools with their plugins, sorted by full name.
    pub fn tools(&self) -> impl Iterator<Item = (&Plugin, &Tool)> {
        self.plugins().flat_map(|plugin| plugin.tools().map(move |tool| (plugin, tool)))
    }

    /// Returns all tools as offers, sorted by full name. An offer stays valid after the catalog has changed.
    pub fn offers(&self) -> impl Iterator<Item = Offer> {
        let offer = |plugin, tool| Offer { plugin: Arc::clone(plugin), tool: Arc::clone(tool) };
        self.plugins.values().flat_map(move |plugin| plugin.tools.values().map(move |tool| offer(plugin, tool)))
    }

    /// Returns the tools that require no permissions other than these.
    pub fn enabled(&self, permissions: Permissions) -> impl Iterator<Item = Offer> {
        self.offers().filter(move |offer| offer.tool.works_with(permissions))
    }

    /// Returns a loaded plugin by name.
    pub fn plugin(&self, name: &str) -> Option<&Plugin> {
        PluginName::new(name).ok().and_then(|name| self.plugins.get(&name)).map(|plugin| &**plugin)
    }

    /// Returns the refusal of a plugin, by the name in its file name.
    pub fn refusal(&self, plugin: &str) -> Option<&RefusedPlugin> {
        self.refused.iter().find(|refused| {
            let name = refused.file.strip_suffix(file::EXTENSION).or_else(|| server_of(&refused.file));
            name == Some(plugin)
        })
    }

    /// Returns the refusal of a file.
    pub(crate) fn refusal_of(&self, file: &str) -> Option<&RefusedPlugin> {
        self.refused.iter().find(|refused| refused.file == file)
    }

    pub(crate) fn find(&self, name: &ToolName) -> Option<(&Arc<Plugin>, &Arc<Tool>)> {
        let plugin = self.plugins.get(&name.plugin)?;
        Some((plugin, plugin.tools.get(&name.tool)?))
    }
}
