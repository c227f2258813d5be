//! HTTP for guests: `wasi:http` and the clients of `dependencies`, implemented by our own client.
//!
//! A request is parsed into a destination once (`portcullis_policy::Destination`). The host checks that destination
//! against the policy (`client`), resolves it (`resolve`), connects to a checked address (`connect`), encrypts (`tls`)
//! and sends the request on its own connection (`exchange`). Connections and cookies are never shared, and redirects
//! are never followed. Bodies stream under limits (`body`, `decode`). A secret is added at the last moment (`secret`,
//! `command`). The host searches for secrets in responses and in the plugin's output (`redact`, `redact_stream`,
//! `spellings`, `watch`). When a call ends, everything that it opened here ends (`tasks`).
//!
//! Without the cargo feature `http`, no client can be created (`absent`). A guest then gets what it gets without a
//! grant.

#[cfg(not(feature = "http"))]
mod absent;
mod addresses;
mod answer;
#[cfg(feature = "http")]
mod body;
#[cfg(feature = "http")]
mod body_of;
mod budget;
mod call;
mod client;
mod command;
#[cfg(feature = "http")]
mod connect;
mod context;
#[cfg(feature = "http")]
mod decode;
mod encoding;
mod error;
#[cfg(feature = "http")]
mod exchange;
mod headers;
mod host_client;
#[cfg(feature = "http")]
mod host_request;
#[cfg(feature = "http")]
mod library_error;
mod network;
mod opened_secrets;
mod order;
mod outgoing;
#[cfg(feature = "http")]
mod proxy;
mod proxy_setup;
mod redact;
mod redact_stream;
#[cfg(feature = "http")]
mod resolve;
#[cfg(feature = "http")]
mod response_headers;
mod secret;
mod secret_error;
mod socket;
mod spellings;
#[cfg(feature = "http")]
mod tasks;
#[cfg(test)]
#[cfg(feature = "http")]
mod tests;
#[cfg(feature = "http")]
mod tls;
#[cfg(feature = "http")]
mod transport;
mod types;
mod wasi;
mod watch;

#[cfg(not(feature = "http"))]
pub(in crate::http) use absent::exchange::exchange;
#[cfg(not(feature = "http"))]
pub(in crate::http) use absent::host_request;
#[cfg(not(feature = "http"))]
pub(in crate::http) use absent::transport::{ClientTransport, NetworkTransport};
#[cfg(feature = "http")]
pub(in crate::http) use body_of::body_of;
pub(crate) use call::NetworkCall;
pub use client::Client;
pub(crate) use context::HttpContext;
pub use error::Unreachable;
#[cfg(feature = "http")]
pub(in crate::http) use exchange::exchange;
pub use host_client::{BearerToken, HostBody, HostClient, HostRequestError};
pub use network::{Network, NetworkError};
pub(crate) use outgoing::OutgoingRedactor;
pub(crate) use proxy_setup::{Proxy, ProxyRefusals};
pub use secret::{VariableError, check_secret_file, open_variable};
#[cfg(feature = "http")]
pub(in crate::http) use transport::{ClientTransport, NetworkTransport};
pub(crate) use wasi::add_to_linker;
pub use watch::PluginSecrets;

/// One request of a call, for the audit log. Hosts and paths are untrusted text of the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The method.
    pub method: String,
    /// The checked URL without its query. It contains no secret.
    pub url: String,
    /// The status of the response.
    pub status: Option<u16>,
    /// Why there is no response, or an incomplete one.
    pub error: Option<String>,
    /// Whether the host began to send it. The server may have acted on it, even if there is no response.
    pub is_sent: bool,
    /// Bytes of the request's body.
    pub sent_bytes: u64,
    /// Bytes of the response's body, decoded.
    pub received_bytes: u64,
}

/// The network traffic of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The first requests, sent or refused.
    pub exchanges: Vec<Exchange>,
    /// The number of further requests.
    pub more: u64,
    /// How many secrets were removed from responses and from the plugin's output.
    pub redactions: u64,
}

impl Traffic {
    /// Adds later traffic. Of the requests beyond `exchanges_max`, only the number is kept.
    pub fn append(&mut self, mut later: Self, exchanges_max: usize) {
        let room = exchanges_max.saturating_sub(self.exchanges.len());
        self.more += later.more + later.exchanges.len().saturating_sub(room) as u64;
        self.redactions += later.redactions;
        later.exchanges.truncate(room);
        self.exchanges.append(&mut later.exchanges);
    }
}
