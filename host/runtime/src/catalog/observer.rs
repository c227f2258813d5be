//! Who hears of what takes time while plugins load.

use super::load_error::LoadError;
use portcullis_policy::PluginName;
use std::time::Duration;

/// Hears of what takes time while plugins load.
pub trait Observer: Send + Sync + 'static {
    /// A plugin is being compiled; this is called once, before.
    fn compiling(&self, plugin: &PluginName);

    /// It is compiled, or was refused.
    fn compiled(&self, plugin: &PluginName);

    /// These plugins load in the background from now on ([`crate::HostBuilder::load_in_background`]).
    fn loading(&self, plugins: &[PluginName]) {
        let _ = plugins;
    }

    /// A plugin that was loaded in the background can be called. Loading it took this long.
    fn ready(&self, plugin: &PluginName, took: Duration) {
        let _ = (plugin, took);
    }

    /// A plugin that was loaded in the background is refused. The text of the error is untrusted.
    fn refused(&self, plugin: &PluginName, error: &LoadError, took: Duration) {
        let _ = (plugin, error, took);
    }
}

/// Hears and says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn compiling(&self, _: &PluginName) {}
    fn compiled(&self, _: &PluginName) {}
}
