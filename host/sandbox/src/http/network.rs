//! State that all clients of a host share: the name servers, the certificate authorities, the addresses that no guest
//! may reach, and the opened secrets.

use super::NetworkTransport;
use super::opened_secrets::OpenedSecrets;
use portcullis_policy::is_global;
use portcullis_policy::recovery::RecoverRwLock;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, RwLock};

/// The state that all clients of a host share: the name servers, and the roots that TLS trusts. Clones share it.
#[derive(Clone)]
pub struct Network {
    shared: Arc<SharedNetwork>,
}

struct SharedNetwork {
    transport: NetworkTransport,
    /// Shared by all networks of a host, whatever their name servers.
    own: Arc<RwLock<Vec<SocketAddr>>>,
    /// Shared by all networks of a host, because a secret of an earlier policy may still be valid.
    opened: Arc<OpenedSecrets>,
}

/// Why a client cannot be created.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NetworkError(pub(super) String);

impl Network {
    /// Creates a network that queries these name servers, or those of the system if there are none. The system's are
    /// read at each lookup.
    pub fn new(name_servers: &[SocketAddr]) -> Self {
        let transport = NetworkTransport::new(name_servers);
        Self { shared: Arc::new(SharedNetwork { transport, own: Arc::default(), opened: Arc::default() }) }
    }

    /// Returns the same network with other name servers. Both share the forbidden addresses and the opened secrets.
    #[must_use]
    pub fn with_name_servers(&self, name_servers: &[SocketAddr]) -> Self {
        let (own, opened) = (Arc::clone(&self.shared.own), Arc::clone(&self.shared.opened));
        let transport = NetworkTransport::new(name_servers);
        Self { shared: Arc::new(SharedNetwork { transport, own, opened }) }
    }

    /// Makes an address of the host's own servers unreachable for every client, whatever is granted. An unspecified
    /// address makes its port unreachable at every address that is not global.
    pub fn forbid(&self, address: SocketAddr) {
        self.shared.own.write_recovered().push(canonical(address));
    }

    /// Removes every secret that a client of the host has opened from a text.
    pub fn redact(&self, text: String) -> String {
        let found = self.shared.opened.whole().and_then(|secrets| secrets.text(&text));
        found.map_or(text, |(redacted, _)| redacted)
    }

    pub(super) fn is_forbidden(&self, address: SocketAddr) -> bool {
        let address = canonical(address);
        let own = self.shared.own.read_recovered();
        own.iter().any(|own| {
            let everywhere = own.ip().is_unspecified() && !is_global(address.ip());
            // Linux connects an unspecified address to the machine itself.
            own.port() == address.port() && (own.ip() == address.ip() || address.ip().is_unspecified() || everywhere)
        })
    }

    pub(super) fn opened_secrets(&self) -> &Arc<OpenedSecrets> {
        &self.shared.opened
    }

    pub(super) fn transport(&self) -> &NetworkTransport {
        &self.shared.transport
    }
}

/// Converts an IPv4-mapped IPv6 address to the IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    let ip: IpAddr = address.ip().to_canonical();
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_own_servers_are_forbidden_in_every_spelling() {
        let network = Network::new(&[]);
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let renamed = network.with_name_servers(&[address("127.0.0.1:53")]);
        network.forbid(address("127.0.0.1:7000"));
        assert!(renamed.is_forbidden(address("127.0.0.1:7000")), "a later policy forbids the same addresses");
        for own in ["127.0.0.1:7000", "[::ffff:127.0.0.1]:7000", "0.0.0.0:7000", "[::]:7000"] {
            assert!(network.is_forbidden(address(own)), "{own}");
        }
        for other in ["127.0.0.1:7001", "127.0.0.2:7000", "[::1]:7000"] {
            assert!(!network.is_forbidden(address(other)), "{other}");
        }
        network.forbid(address("0.0.0.0:8000"));
        for own in ["127.0.0.1:8000", "[::1]:8000", "10.0.0.1:8000", "127.9.9.9:8000"] {
            assert!(network.is_forbidden(address(own)), "{own}");
        }
    }
}
