//! What the policy binds, held against what plugins ask for and against the host's own places, and opened.

use crate::audit::AuditError;
use crate::call::Bound;
use crate::catalog::Catalog;
use crate::open::OpenError;
use crate::places::{PolicyFile, State};
use portcullis_policy::{Binding, Policy};
use portcullis_sandbox::{DependencyKind, Directory};
use std::path::Path;

/// Refuses a policy that names a plugin or a key that is not there: what is misspelt would silently not hold.
pub(crate) fn check_names(policy: &Policy, catalog: &Catalog) -> Result<(), OpenError> {
    for plugin in policy.plugins() {
        let Some(loaded) = catalog.plugins.get(plugin) else {
            // A plugin that is there and was refused is known; its grants wait for it.
            if catalog.refusal(plugin.as_str()).is_some() {
                continue;
            }
            return Err(OpenError::UnknownPlugin(plugin.clone()));
        };
        for (key, binding) in policy.bindings(plugin) {
            let asked = loaded.dependencies.get(key).map(|dependency| dependency.kind);
            let fits = match (binding, asked) {
                (Binding::Directory(_), Some(DependencyKind::Directory)) => true,
                (Binding::Http(_), Some(DependencyKind::Http)) => true,
                (Binding::Directory(_) | Binding::Http(_), _) => false,
            };
            if !fits {
                let asks: Vec<String> = loaded.dependencies.keys().map(|key| format!("`{key}`")).collect();
                let asks = if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") };
                return Err(OpenError::UnknownKey { plugin: plugin.clone(), key: key.clone(), asks });
            }
        }
    }
    Ok(())
}

/// What no grant may cover.
pub(crate) struct Own<'a> {
    pub(crate) plugins: &'a cap_std::fs::Dir,
    pub(crate) state: &'a State,
    pub(crate) policy: Option<&'a PolicyFile>,
}

impl Own<'_> {
    fn covered_by(&self, directory: &Directory) -> std::io::Result<Option<&'static str>> {
        if directory.overlaps(&self.state.directory)? {
            return Ok(Some("the state directory"));
        }
        if directory.overlaps(&self.state.cache)? {
            return Ok(Some("the cache directory"));
        }
        if directory.overlaps(self.plugins)? {
            return Ok(Some("the plugin directory"));
        }
        match self.policy {
            // The policy is one file: beside it a directory may lie, around it none.
            Some(policy) if directory.contains(&policy.handle)? => Ok(Some("the policy")),
            Some(_) | None => Ok(None),
        }
    }
}

/// Opens every directory that the policy binds to a loaded plugin.
pub(crate) fn bind(policy: &Policy, catalog: &Catalog, base: &Path, own: &Own<'_>) -> Result<Bound, OpenError> {
    let mut bound = Bound::new();
    for plugin in catalog.plugins.keys() {
        for (key, binding) in policy.bindings(plugin) {
            let Binding::Directory(binding) = binding else { continue };
            let failed = |error| OpenError::Grant { plugin: plugin.clone(), key: key.clone(), error };
            let directory = Directory::open(&base.join(&binding.path), binding.access).map_err(failed)?;
            if let Some(what) = own.covered_by(&directory).map_err(AuditError::Io)? {
                let (plugin, key, path) = (plugin.clone(), key.clone(), binding.path.clone());
                return Err(OpenError::Covers { plugin, key, path, what });
            }
            bound.insert((plugin.clone(), key.clone()), directory);
        }
    }
    Ok(bound)
}
