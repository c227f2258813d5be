//! The catalog of a plugin directory: the loaded plugins with their tools, and the refused ones with their reasons.

mod background;
mod cached;
mod definition;
mod describing;
mod description;
mod directory;
pub(crate) mod file;
mod lint;
pub(crate) mod listing;
mod load;
mod load_all;
mod load_error;
mod names;
mod observer;
mod placeholders;
mod plugin;
mod refusal;
mod wanted;

pub(crate) use background::{BackgroundLoading, BackgroundLoads, EndedLoad};
pub use definition::DefinitionError;
pub use describing::check;
pub(crate) use describing::examine;
pub(crate) use description::Beside;
pub use description::{DescriptionError, DescriptionFault, describe_beside};
pub(crate) use directory::PluginDirectory;
pub use file::FileError;
pub use lint::{LINTS_MAX, Lint, Rule, lints};
pub(crate) use load::{LoadSlots, Loader, Seen, read};
pub use load_error::LoadError;
pub use names::{NameCollision, ToolNames};
pub use observer::{Observer, Silent};
pub use placeholders::PlaceholderError;
pub use plugin::{Dependency, Plugin, Tool};
pub use refusal::forget_refusal;

use crate::pick::Picker;
use crate::policy_in_force::PolicyInForce;
use crate::standard;
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

/// A tool that can be offered to a model, with its plugin. It does not change when the catalog does.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The plugin.
    pub plugin: Arc<Plugin>,
    /// The tool.
    pub tool: Arc<Tool>,
}

/// A file that was refused.
#[derive(Clone, Debug)]
pub struct RefusedPlugin {
    /// The name of the file. Untrusted text.
    pub file: String,
    /// Why it was refused. Its text is untrusted.
    pub error: Arc<LoadError>,
}

impl Catalog {
    /// Creates a catalog with only the built-in tools, under a policy.
    pub(crate) fn under(policy: &Arc<PolicyInForce>) -> Self {
        let plugins = standard::plugins().iter().map(|plugin| (plugin.name.clone(), Arc::clone(plugin))).collect();
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
        self.refused.iter().find(|refused| refused.file.strip_suffix(file::EXTENSION) == Some(plugin))
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
