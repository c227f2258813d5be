//! What the parts of a proxy share: the clients, the call, and the refusals.

use crate::host_memory::HostMemory;
use crate::http::call::NetworkCall;
use crate::http::client::Client;
use crate::http::error::RequestRefusal;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use portcullis_policy::Destination;
use portcullis_policy::recovery::RecoverMutex;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use wasmtime_wasi_http::WasiBody;

/// Maximum refusals that are kept for the model. Further ones are only counted by the audit log.
const REFUSALS_MAX: usize = 32;

/// What the proxy of a program refused, for the model. Each is listed once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProxyRefusals(Arc<Mutex<Vec<String>>>);

impl ProxyRefusals {
    /// Returns the refusals until now.
    pub(crate) fn list(&self) -> Vec<String> {
        self.0.lock_recovered().clone()
    }

    pub(super) fn add(&self, text: String) {
        let mut list = self.0.lock_recovered();
        if list.len() < REFUSALS_MAX && !list.contains(&text) {
            list.push(text);
        }
    }
}

/// What a proxy needs of the call.
#[derive(Clone)]
pub(crate) struct Proxy {
    /// The clients that decide and send. Without one, everything is refused.
    pub(crate) clients: Vec<Client>,
    pub(crate) call: Arc<NetworkCall>,
    pub(crate) memory: HostMemory,
    pub(crate) refusals: ProxyRefusals,
}

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

/// Returns a whole body.
pub(super) fn body_of(bytes: Bytes) -> WasiBody {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed_unsync()
}
