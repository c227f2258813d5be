//! A client: the grant of one HTTP key of a plugin, and the check of requests against it.

use super::budget::RequestPace;
use super::error::{RequestRefusal, Unreachable};
use super::network::{Network, NetworkError};
use super::secret::Vault;
use super::{ClientTransport, headers};
use crate::base::PathBase;
use http::HeaderMap;
use portcullis_policy::{Destination, Host, HttpBinding, Scheme, SecretSlot, Unnamed};
use std::net::SocketAddr;
use std::sync::Arc;

/// An HTTP client that is granted to a plugin. Clones share its secret and its limit of requests per minute.
#[derive(Clone)]
pub struct Client {
    shared: Arc<SharedClient>,
    /// The only destination of a narrowed client.
    only: Option<Arc<Destination>>,
}

struct SharedClient {
    binding: Arc<HttpBinding>,
    network: Network,
    transport: ClientTransport,
    vault: Option<Arc<Vault>>,
    pace: RequestPace,
}

impl Client {
    /// Returns a client for a binding. Relative paths of the binding start from `base`. The secret is read when a call
    /// of the plugin first needs it or first receives anything.
    ///
    /// # Errors
    /// The certificates to trust cannot be read, or the program was built without the feature `http`.
    pub fn new(network: &Network, binding: Arc<HttpBinding>, base: impl Into<PathBase>) -> Result<Self, NetworkError> {
        let base = base.into();
        let transport = ClientTransport::new(&base, binding.roots.as_ref()).map_err(NetworkError)?;
        let opened = || Arc::clone(network.opened_secrets());
        let vault = binding.secret.clone().map(|secret| Arc::new(Vault::new(secret, base, opened())));
        let pace = RequestPace::new(binding.limits.requests_per_minute);
        Ok(Self {
            shared: Arc::new(SharedClient { binding, network: network.clone(), transport, vault, pace }),
            only: None,
        })
    }

    /// Returns the same client, limited to one destination: its origin, path and query. With `unnamed = "ask"`, the
    /// binding need not name the host. The caller must make sure that a person approved the destination.
    #[must_use]
    pub fn narrowed(&self, destination: Destination) -> Self {
        Self { shared: Arc::clone(&self.shared), only: Some(Arc::new(destination)) }
    }

    /// Returns the binding of the client.
    pub fn binding(&self) -> &Arc<HttpBinding> {
        &self.shared.binding
    }

    /// Returns a number that identifies the client. Clones and narrowed clients have the same number.
    pub(super) fn identity(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Returns whether the host has the secret for requests of this client. Reads the secret if necessary.
    pub(crate) async fn has_secret(&self) -> bool {
        match &self.shared.vault {
            Some(vault) => vault.open().await.is_ok(),
            None => false,
        }
    }

    /// Returns the vault of the secret, if the secret belongs in requests to this destination.
    pub(super) fn vault(&self, destination: &Destination) -> Option<&Vault> {
        self.shared.vault.as_deref().filter(|vault| vault.is_for(destination))
    }

    /// Returns the vault of the secret, for any destination.
    pub(super) fn any_vault(&self) -> Option<&Arc<Vault>> {
        self.shared.vault.as_ref()
    }

    /// Returns the client's network.
    pub(crate) fn network(&self) -> &Network {
        &self.shared.network
    }

    /// Checks a request before any DNS lookup.
    pub(super) fn decide(
        &self,
        method: &str,
        destination: &Destination,
        sent: &HeaderMap,
    ) -> Result<(), RequestRefusal> {
        let binding = self.binding();
        if let Some(only) = self.only.as_deref().filter(|only| *only != destination) {
            return Err(RequestRefusal::Narrowed(super::error::bounded(&only.to_string())));
        }
        let approved = self.only.is_some() && binding.unnamed == Unnamed::Ask;
        if approved && !binding.names(destination) {
            binding.covers_unnamed(method, destination)?;
        } else {
            binding.covers(method, destination)?;
        }
        headers::check(sent, binding, self.slot())?;
        let Some(vault) = self.vault(destination) else { return Ok(()) };
        // Otherwise the guest could choose http, and the secret would cross the network unencrypted. A binding that
        // names only http allows that.
        if destination.scheme() == Scheme::Http && binding.schemes.contains(&Scheme::Https) {
            return Err(RequestRefusal::SecretInTheClear);
        }
        headers::check_query(destination.query(), vault.slot())
    }

    /// Takes one request out of the budget of this minute.
    pub(super) fn keep_pace(&self) -> Result<(), RequestRefusal> {
        self.shared.pace.take(std::time::Instant::now()).map_err(RequestRefusal::Pace)
    }

    /// Checks whether a connection to an address may be opened.
    pub(super) fn check_address(&self, host: &Host, address: SocketAddr) -> Result<(), RequestRefusal> {
        if !self.binding().permits(host, address.ip()) {
            return Err(RequestRefusal::Address { host: host.to_string(), address: address.ip() });
        }
        if self.shared.network.is_forbidden(address) { Err(RequestRefusal::OwnServer) } else { Ok(()) }
    }

    /// Checks whether a narrowed client can connect to its destination at all, without a DNS lookup. No approval
    /// overrides this refusal.
    ///
    /// # Errors
    /// The policy permits no address that the destination's host can have, or it is a server of this host.
    pub fn check_reachable(&self) -> Result<(), Unreachable> {
        let Some(destination) = self.only.as_deref() else { return Ok(()) };
        let host = destination.host();
        if let Host::Address(address) = host {
            return Ok(self.check_address(host, SocketAddr::new(*address, destination.port()))?);
        }
        if !self.binding().may_permit(host) {
            return Err(RequestRefusal::NoAddress(super::error::bounded(&host.to_string())).into());
        }
        Ok(())
    }

    pub(super) fn transport(&self) -> &ClientTransport {
        &self.shared.transport
    }

    fn slot(&self) -> Option<&SecretSlot> {
        self.shared.vault.as_deref().map(Vault::slot)
    }
}
