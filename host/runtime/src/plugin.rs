//! A plugin as a call finds it: what was loaded, and what the policy binds to it.

use crate::catalog::{Dependency, LoadedPlugin, Tool};
use crate::grants::Grants;
use crate::reserved;
use portcullis_policy::{DependencyKey, LocalName, PluginName};
use portcullis_sandbox::Contract;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// A loaded plugin. Its texts are the author's words: show them through [`crate::text`].
pub struct Plugin {
    pub(crate) loaded: Arc<LoadedPlugin>,
    /// What the policy gives it. A call keeps its plugin, and with it what it started with.
    pub(crate) grants: Grants,
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
    /// A plugin without grants and with its own descriptions, to be bound under a policy.
    pub(crate) fn unbound(loaded: Arc<LoadedPlugin>) -> Self {
        let (grants, tools) = (Grants::default(), loaded.own_tools.clone());
        Self { loaded, grants, tools }
    }

    /// Whether it is the host's own: it has no file, and its tools need no sandbox.
    pub fn is_standard(&self) -> bool {
        reserved::is_reserved(&self.name)
    }

    /// The name.
    pub fn name(&self) -> &PluginName {
        &self.name
    }

    /// The SHA-256 of its bytes: what it is.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// The size of its file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The version of the contract it speaks; none where it is the host's own.
    pub fn contract(&self) -> Option<Contract> {
        self.contract
    }

    /// What it imports: all of it is served, or it would not be loaded.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Whether it wants a say in whether its calls run.
    pub fn reviews(&self) -> bool {
        self.reviews
    }

    /// Whether it computes what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.previews
    }

    /// The author's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What it is for.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Its tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(|tool| &**tool)
    }

    /// The handles it asks for, by key.
    pub fn dependencies(&self) -> &BTreeMap<DependencyKey, Dependency> {
        &self.dependencies
    }
}
