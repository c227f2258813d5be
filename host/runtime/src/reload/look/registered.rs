//! Plugins that the application registers while the host runs, and the files that may not have their names.

use super::ReloadLook;
use crate::catalog::file;
use crate::catalog::{LoadError, Plugin};
use crate::reload::change::{CatalogChange, What};

impl ReloadLook<'_> {
    /// Adds a plugin that the application registers.
    pub(in crate::reload) async fn register(&mut self, plugin: Plugin) -> Result<(), LoadError> {
        let plugin = self.bind(plugin).await?;
        self.put(plugin.name.to_string(), plugin);
        Ok(())
    }

    /// Removes a plugin that the application has registered.
    pub(in crate::reload) fn unregister(&mut self, plugin: &Plugin) {
        self.next.plugins.remove(&plugin.name);
        let what = What::Removed(plugin.name.clone());
        self.changes.push(CatalogChange::new(what, plugin.name.to_string(), Some(plugin.sha256)));
    }

    /// Returns whether the application has registered a plugin with the name of a file.
    pub(super) fn is_registered(&self, file: &str) -> bool {
        let plugin = file::plugin_name(file).ok().and_then(|name| self.before.plugins.get(&name));
        plugin.is_some_and(|plugin| plugin.is_registered())
    }
}
