//! HTTP for guests: `wasi:http` and the clients of `dependencies`, implemented by our own client.
//!
//! A request is parsed into a destination once (`portcullis_policy::Destination`). The host checks that destination
//! against the policy (`client`), resolves it (`resolve`), connects to a checked address (`connect`), encrypts (`tls`)
//! and sends the request on its own connection (`exchange`). Connections and cookies are never shared, and redirects
//! are never followed. Bodies stream under limits (`body`, `decode`). A secret is added at the last moment (`secret`,
//! `command`). The host searches for secrets in responses and in the plugin's output (`redact`, `redact_stream`,
//! `spellings`, `watch`). When a call ends, everything that it opened here ends (`tasks`).

mod answer;
mod body;
mod budget;
mod call;
mod client;
mod command;
mod connect;
mod context;
mod decode;
mod encoding;
mod error;
mod exchange;
mod headers;
mod network;
mod opened_secrets;
mod outgoing;
mod redact;
mod redact_stream;
mod resolve;
mod response_headers;
mod secret;
mod secret_error;
mod socket;
mod spellings;
mod tasks;
#[cfg(test)]
mod tests;
mod tls;
mod types;
mod wasi;
mod watch;

pub(crate) use call::NetworkCall;
pub use client::Client;
pub(crate) use context::HttpContext;
pub use error::Unreachable;
pub use network::{Network, NetworkError};
pub(crate) use outgoing::OutgoingRedactor;
pub use secret::check_secret_file;
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
