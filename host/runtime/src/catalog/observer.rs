//! The observer of slow steps while plugins load.

use super::load_error::LoadError;
use portcullis_policy::PluginName;
use std::time::Duration;

/// An observer of slow steps while plugins load.
pub trait Observer: Send + Sync + 'static {
    /// Called when a host opens, and after each file of the plugin directory: `done` files of `total` have loaded or
    /// were refused.
    fn advanced(&self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// Called once before a plugin of this size waits for its turn to be compiled.
    fn queued(&self, plugin: &PluginName, bytes: u64) {
        let _ = (plugin, bytes);
    }

    /// Called once before a plugin is compiled, also if another process with the same state directory compiles it.
    fn compiling(&self, plugin: &PluginName);

    /// Called after a plugin was compiled here or there, or compiling it failed.
    fn compiled(&self, plugin: &PluginName);

    /// Called when these plugins begin to load in the background ([`crate::HostBuilder::load_in_background`]).
    fn loading(&self, plugins: &[PluginName]) {
        let _ = plugins;
    }

    /// Called when a plugin that was loaded in the background can be called. `took` is the time of loading it.
    fn ready(&self, plugin: &PluginName, took: Duration) {
        let _ = (plugin, took);
    }

    /// Called when a plugin that was loaded in the background is refused. The text of the error is untrusted.
    fn refused(&self, plugin: &PluginName, error: &LoadError, took: Duration) {
        let _ = (plugin, error, took);
    }
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn compiling(&self, _: &PluginName) {}
    fn compiled(&self, _: &PluginName) {}
}
