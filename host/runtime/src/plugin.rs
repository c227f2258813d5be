//! A loaded plugin with the grants of the policy.

use crate::catalog::{Dependency, LoadedPlugin, Tool};
use crate::grants::PluginGrants;
use crate::reserved;
use portcullis_policy::{DependencyKey, LocalName, PluginName};
use portcullis_sandbox::Contract;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// A loaded plugin. Its texts are untrusted: escape them with [`crate::text`] before you show them.
pub struct Plugin {
    pub(crate) loaded: Arc<LoadedPlugin>,
    /// The grants of the policy. A call keeps its plugin, and so the grants that it started with.
    pub(crate) grants: PluginGrants,
    /// Its tools, with the descriptions of its files.
    pub(crate) tools: BTreeMap<LocalName, Arc<Tool>>,
}

impl Deref for Plugin {
    type Target = LoadedPlugin;

    fn deref(&self) -> &LoadedPlugin {
        &self.loaded
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Plugin").field("name", &self.name).field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Plugin {
    /// Creates a plugin without grants and with its own descriptions, to be bound under a policy.
    pub(crate) fn unbound(loaded: Arc<LoadedPlugin>) -> Self {
        let (grants, tools) = (PluginGrants::default(), loaded.own_tools.clone());
        Self { loaded, grants, tools }
    }

    /// Returns whether this is a built-in plugin, which has no file and runs without a sandbox.
    pub fn is_standard(&self) -> bool {
        reserved::is_reserved(&self.name)
    }

    /// Returns the plugin's name.
    pub fn name(&self) -> &PluginName {
        &self.name
    }

    /// Returns the SHA-256 of the plugin's bytes, which identifies it.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// Returns the size of the plugin's file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the version of the contract that the plugin uses. Returns `None` for a built-in plugin.
    pub fn contract(&self) -> Option<Contract> {
        self.contract
    }

    /// Returns the interfaces that the plugin imports. The host serves all of them.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Returns whether the plugin has a reviewer.
    pub fn reviews(&self) -> bool {
        self.reviews
    }

    /// Returns whether the plugin can preview what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.previews
    }

    /// Returns the plugin's version. Untrusted text.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the plugin's description. Untrusted text.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the plugin's tools, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(|tool| &**tool)
    }

    /// Returns the handles that the plugin asks for, by key.
    pub fn dependencies(&self) -> &BTreeMap<DependencyKey, Dependency> {
        &self.dependencies
    }
}
