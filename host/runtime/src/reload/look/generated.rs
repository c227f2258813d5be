//! Plugins whose generated tools may have changed.

use super::ReloadLook;
use crate::catalog::{LoadError, Plugin};
use crate::reload::error::ReloadError;
use std::sync::Arc;

impl ReloadLook<'_> {
    /// Returns the plugins that this reload has not replaced.
    pub(in crate::reload) fn old(&self) -> Vec<Arc<Plugin>> {
        let is_old = |plugin: &&Arc<Plugin>| {
            let before = self.before.plugins.get(&plugin.name);
            before.is_some_and(|before| Arc::ptr_eq(before, plugin)) && !plugin.is_standard()
        };
        self.next.plugins.values().filter(is_old).cloned().collect()
    }

    /// Lets plugins that this reload has not replaced generate their tools again. If the new ones cannot be used, the
    /// old ones stay, and the plugin's file counts as refused.
    pub(in crate::reload) async fn generate_again(&mut self, old: Vec<Arc<Plugin>>) -> Result<(), ReloadError> {
        for plugin in old.into_iter().filter(|plugin| plugin.generates) {
            let (file, sha256) = (plugin.file.clone(), plugin.sha256);
            // A refusal of another version of the file has nothing to do with these tools, and stays.
            if self.seen.get(&file).is_none_or(|seen| !seen.has_hashes(sha256, plugin.beside.sha256)) {
                continue;
            }
            match self.bind(plugin.unbound()).await {
                // The plugin that is served stays, so that the catalog does not change for nothing.
                Ok(again) if again.has_tools_of(&plugin) => self.clear(file, sha256),
                Ok(again) => self.put(file, again),
                Err(LoadError::Audit(error)) => return Err(error.into()),
                Err(error) => self.note_refusal(file, Some(sha256), Arc::new(error)),
            }
        }
        Ok(())
    }
}
