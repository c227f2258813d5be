//! The proxy of a program without the feature `http`: it accepts no connection.

use crate::host_memory::HostMemory;
use crate::http::call::NetworkCall;
use crate::http::client::Client;
use std::sync::Arc;

/// What the proxy of a program refused: nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProxyRefusals;

impl ProxyRefusals {
    pub(crate) fn list(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a proxy would need of the call.
pub(crate) struct Proxy {
    pub(crate) clients: Vec<Client>,
    pub(crate) call: Arc<NetworkCall>,
    pub(crate) memory: HostMemory,
    pub(crate) refusals: ProxyRefusals,
}

impl Proxy {
    /// Closes the listener.
    pub(crate) async fn serve(self, listener: std::net::TcpListener) {
        let Self { clients: _, call: _, memory: _, refusals: _ } = self;
        drop(listener);
    }
}
