//! The functions of a host that register plugins of the application, remove them, and find a tool.

use crate::catalog::Offer;
use crate::host::Host;
use crate::reload::{self, RegisterError, Registration, UnregisterError};
use portcullis_policy::PluginName;
use std::sync::Arc;

impl Host {
    /// Adds a plugin of the application while the host runs: a [`ComponentPlugin`](crate::ComponentPlugin), or a
    /// [`NativePlugin`](crate::native::NativePlugin) of functions. It is checked, bound by the policy in force and
    /// recorded like a plugin that a reload has found, and its calls take all the steps. It stays until
    /// [`Host::unregister`], also if the policy or the plugin directory is reloaded. A file of the same name is refused
    /// meanwhile. Returns the name. Dropping the future changes nothing.
    ///
    /// ```no_run
    /// # async fn example(host: &portcullis::Host, bytes: Vec<u8>) -> Result<(), portcullis::RegisterError> {
    /// host.register(portcullis::ComponentPlugin::from_bytes("notes", bytes)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The plugin cannot be loaded, its name is taken, the policy does not fit it, or the audit log cannot be written.
    pub async fn register(&self, plugin: impl Into<Registration>) -> Result<PluginName, RegisterError> {
        reload::register(&self.0, plugin.into()).await
    }

    /// Removes a registered plugin. Its running calls finish, and later calls find no such tool. Calls with an open
    /// approval request are treated as when a reload removes a plugin.
    ///
    /// A file of the same name in a plugin directory loads at the next reload.
    ///
    /// # Errors
    /// No such plugin is registered, or the audit log cannot be written.
    pub async fn unregister(&self, name: &str) -> Result<(), UnregisterError> {
        reload::unregister(&self.0, name).await
    }

    /// Returns a tool of the current catalog by its full name, such as `files.read`, with its plugin.
    pub fn get(&self, tool: &str) -> Option<Offer> {
        let catalog = self.0.catalog();
        let (plugin, tool) = catalog.find(&tool.parse().ok()?)?;
        Some(Offer { plugin: Arc::clone(plugin), tool: Arc::clone(tool) })
    }
}
