//! The address of an MCP server that the policy names, with the client that reaches it.

use portcullis_policy::{HttpBinding, Limits, PluginName, ServerPolicy};
use portcullis_sandbox::{Client, Network, PathBase};
use std::sync::Arc;

/// The address of an MCP server. Only the host connects to it.
pub(crate) struct BoundAddress {
    pub(crate) name: PluginName,
    pub(crate) client: Client,
    /// What the policy says about the server's tools.
    pub(crate) policy: ServerPolicy,
    pub(crate) limits: Limits,
    /// The directory from which the paths of its secrets start.
    pub(crate) base: PathBase,
    pub(crate) network: Network,
}

impl BoundAddress {
    /// Returns what the policy binds.
    pub(crate) fn binding(&self) -> &Arc<HttpBinding> {
        self.client.binding()
    }
}
