//! Opens the grants of plugins and adds them to the plugins.

use super::bound::Opening;
use super::error::GrantError;
use crate::catalog::{Catalog, Plugin};
use std::sync::Arc;

impl Opening<'_> {
    /// Opens everything that the policy binds to the plugins of a catalog that is not shared yet.
    pub(crate) fn bind_all(&self, catalog: &mut Catalog) -> Result<(), GrantError> {
        // A shared plugin was bound when it was loaded, and keeps its grants.
        catalog.plugins.values_mut().filter_map(Arc::get_mut).try_for_each(|plugin| self.bind(plugin))
    }

    /// Opens everything that the policy binds to a plugin.
    pub(crate) fn bind(&self, plugin: &mut Plugin) -> Result<(), GrantError> {
        plugin.grants = self.grants(&plugin.name)?;
        Ok(())
    }
}
