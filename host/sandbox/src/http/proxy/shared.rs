//! What the parts of a proxy share.

use crate::http::client::Client;
use crate::http::error::RequestRefusal;
use crate::http::proxy_setup::Proxy;
use portcullis_policy::Destination;

impl Proxy {
    /// Returns the client that names a destination, or the last one, whose refusal says what is missing.
    pub(super) fn client_for(&self, destination: &Result<Destination, RequestRefusal>) -> Option<Client> {
        let names = |client: &&Client| {
            let binding = client.binding();
            destination.as_ref().is_ok_and(|known| binding.names(known) && binding.ports.contains(&known.port()))
        };
        self.clients.iter().find(names).or(self.clients.last()).cloned()
    }
}
