//! What the clients of a host reach servers with: name servers and TLS.

use super::resolve::NameServers;
use super::tls;
use crate::base::PathBase;
use rustls::ClientConfig;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

/// The name servers of a network, and the roots that are compiled in.
pub(super) struct NetworkTransport {
    name_servers: NameServers,
    tls: OnceLock<Option<Arc<ClientConfig>>>,
}

impl NetworkTransport {
    /// Uses these name servers, or those of the system if there are none.
    pub(super) fn new(name_servers: &[SocketAddr]) -> Self {
        Self { name_servers: NameServers::new(name_servers), tls: OnceLock::new() }
    }

    pub(super) fn name_servers(&self) -> &NameServers {
        &self.name_servers
    }

    /// Returns the TLS configuration with the roots that are compiled in.
    pub(super) fn tls(&self) -> Option<Arc<ClientConfig>> {
        // Each request over https reports the failure, because it then finds no configuration.
        self.tls.get_or_init(|| tls::built_in().ok()).clone()
    }
}

/// TLS with the roots of one client, if it has any.
pub(super) struct ClientTransport {
    tls: Option<Arc<ClientConfig>>,
}

impl ClientTransport {
    /// Reads the roots of a client from their file.
    pub(super) fn new(base: &PathBase, roots: Option<&String>) -> Result<Self, String> {
        let from_file =
            |path: &String| tls::from_file(base, path).map_err(|error| format!("the roots in {path}: {error}"));
        Ok(Self { tls: roots.map(from_file).transpose()? })
    }

    pub(super) fn tls(&self) -> Option<Arc<ClientConfig>> {
        self.tls.clone()
    }
}
