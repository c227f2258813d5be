//! State that all clients of a host share: the name servers, the certificate authorities, the addresses that no guest
//! may reach, and the opened secrets.

use super::opened_secrets::OpenedSecrets;
use super::resolve::NameServers;
use super::tls;
use portcullis_policy::is_global;
use rustls::ClientConfig;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// What all clients of a host share: how names are resolved, and whom TLS trusts. Clones are the same network.
#[derive(Clone)]
pub struct Network {
    shared: Arc<Shared>,
}

struct Shared {
    name_servers: NameServers,
    tls: OnceLock<Option<Arc<ClientConfig>>>,
    /// Shared by all networks of a host, whatever their name servers.
    own: Arc<RwLock<Vec<SocketAddr>>>,
    /// Shared by all networks of a host, because a secret of an earlier policy may still be valid.
    opened: Arc<OpenedSecrets>,
}

/// Why there is no network or no client.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NetworkError(pub(super) String);

impl Network {
    /// A network that asks these name servers, or those of the system where there are none. The system's are read when
    /// a name is first looked up.
    ///
    /// # Errors
    /// None at present; what a network needs is found out when it is used.
    pub fn new(name_servers: &[SocketAddr]) -> Result<Self, NetworkError> {
        let name_servers = NameServers::new(name_servers);
        let (tls, own, opened) = (OnceLock::new(), Arc::default(), Arc::default());
        Ok(Self { shared: Arc::new(Shared { name_servers, tls, own, opened }) })
    }

    /// Returns the same network with other name servers. Both share the forbidden addresses and the opened secrets.
    #[must_use]
    pub fn with_name_servers(&self, name_servers: &[SocketAddr]) -> Self {
        let (own, opened) = (Arc::clone(&self.shared.own), Arc::clone(&self.shared.opened));
        let (name_servers, tls) = (NameServers::new(name_servers), OnceLock::new());
        Self { shared: Arc::new(Shared { name_servers, tls, own, opened }) }
    }

    /// Keeps every client from an address, whatever is granted: one that the host itself listens at. An address that
    /// stands for all of the machine's keeps them from its port at every address that is not global.
    pub fn forbid(&self, address: SocketAddr) {
        self.shared.own.write().unwrap_or_else(PoisonError::into_inner).push(canonical(address));
    }

    pub(super) fn is_forbidden(&self, address: SocketAddr) -> bool {
        let address = canonical(address);
        let own = self.shared.own.read().unwrap_or_else(PoisonError::into_inner);
        own.iter().any(|own| {
            let everywhere = own.ip().is_unspecified() && !is_global(address.ip());
            own.port() == address.port() && (own.ip() == address.ip() || address.ip().is_unspecified() || everywhere)
        })
    }

    pub(super) fn opened_secrets(&self) -> &Arc<OpenedSecrets> {
        &self.shared.opened
    }

    pub(super) fn name_servers(&self) -> &NameServers {
        &self.shared.name_servers
    }

    /// TLS with the roots that are compiled in.
    pub(super) fn tls(&self) -> Option<Arc<ClientConfig>> {
        self.shared.tls.get_or_init(|| tls::built_in().ok()).clone()
    }
}

/// An IPv4 address within an IPv6 one is that IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    let ip: IpAddr = address.ip().to_canonical();
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_own_servers_are_forbidden_in_every_spelling() {
        let network = Network::new(&[]).unwrap();
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let renamed = network.with_name_servers(&[address("127.0.0.1:53")]);
        network.forbid(address("127.0.0.1:7000"));
        assert!(renamed.is_forbidden(address("127.0.0.1:7000")), "a later policy has the same addresses out of reach");
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
