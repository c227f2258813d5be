//! What the proxy of a program needs of its call, and what it refused.

use super::call::NetworkCall;
use super::client::Client;
use crate::host_memory::HostMemory;
use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex};

/// Maximum refusals that are kept for the model. Further ones are only counted by the audit log.
#[cfg(feature = "http")]
const REFUSALS_MAX: usize = 32;

/// What the proxy of a program refused, for the model. Each is listed once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProxyRefusals(Arc<Mutex<Vec<String>>>);

impl ProxyRefusals {
    /// Returns the refusals until now.
    pub(crate) fn list(&self) -> Vec<String> {
        self.0.lock_recovered().clone()
    }

    #[cfg(feature = "http")]
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
