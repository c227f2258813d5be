//! Maps the code of a plugin for a call.

use super::rejection::Rejection;
use crate::catalog::Plugin;
use crate::inner::HostState;
use crate::reply::Code;
use crate::text::WithCauses;
use portcullis_sandbox::Code as PluginCode;

impl HostState {
    /// Returns the code of a plugin. Maps it on first use.
    pub(crate) async fn code<'a>(&self, plugin: &'a Plugin) -> Result<&'a PluginCode, Rejection> {
        self.loader.code(plugin).await.map_err(|error| {
            let message = format!("The plugin {} can no longer be used.", plugin.name);
            Rejection::new(Code::PluginRefused, message).with_detail(WithCauses(&error).to_string())
        })
    }
}
