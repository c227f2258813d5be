//! The handles of one call, by key: what a store can reach, and nothing else.

use crate::directory::Directory;
use crate::http::{Client, PluginSecrets};
use crate::keyvalue::Store;
use crate::service::Service;
use crate::surroundings::Surroundings;
use portcullis_policy::HttpBinding;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Why a key has no handle for this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The plugin's manifest does not name the key.
    UnknownKey,
    /// Nothing is granted under the key.
    NotGranted,
    /// The key names something of another kind.
    WrongKind,
    /// The handle could not be made.
    Failed,
}

/// Everything one call may reach. A new one holds nothing.
#[derive(Clone, Default)]
pub struct Handles {
    declared: BTreeMap<Arc<str>, Declared>,
    /// The key of the client that also answers `wasi:http/outgoing-handler`.
    default_client: Option<Arc<str>>,
    pub(crate) surroundings: Surroundings,
    secrets: Option<Arc<PluginSecrets>>,
    refused: RefusedKeys,
}

/// The declared keys of directories and clients that a guest opened in vain: they have no handle for the call. Clones
/// are of the same call.
#[derive(Clone, Debug, Default)]
pub struct RefusedKeys(Arc<Mutex<BTreeSet<Box<str>>>>);

impl RefusedKeys {
    /// Returns the keys, sorted. They are among those that the call declares.
    pub fn keys(&self) -> Vec<Box<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn note(&self, key: &str) -> Unavailable {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.into());
        Unavailable::NotGranted
    }
}

#[derive(Clone)]
enum Declared {
    Directory(Option<Directory>),
    Client { client: Option<Client>, binding: Option<Arc<HttpBinding>> },
    Store(Option<Arc<dyn Store>>),
    Service(Option<Arc<dyn Service>>),
}

impl Handles {
    /// No handle and no key.
    pub fn none() -> Self {
        Self::default()
    }

    /// The settings, the time and the randomness of the call.
    pub fn set_surroundings(&mut self, surroundings: Surroundings) {
        self.surroundings = surroundings;
    }

    /// Sets the secrets to search for: all that are bound to the plugin, whether or not this call gets their clients.
    /// By default, the secrets of the call's own clients are searched for.
    pub fn set_secrets(&mut self, secrets: Arc<PluginSecrets>) {
        self.secrets = Some(secrets);
    }

    /// The keys that the guest will have opened in vain. Taken before the run, read after it.
    pub fn refused_keys(&self) -> RefusedKeys {
        self.refused.clone()
    }

    pub(crate) fn secrets(&self) -> Option<Arc<PluginSecrets>> {
        if let Some(secrets) = &self.secrets {
            return Some(Arc::clone(secrets));
        }
        let network = self.clients().next()?.network();
        Some(Arc::new(PluginSecrets::new(network, self.clients())))
    }

    fn clients(&self) -> impl Iterator<Item = &Client> {
        self.declared.values().filter_map(|declared| match declared {
            Declared::Client { client, .. } => client.as_ref(),
            Declared::Directory(_) | Declared::Store(_) | Declared::Service(_) => None,
        })
    }

    /// Declares a directory key, with its handle where one is granted.
    pub fn directory_key(&mut self, key: Arc<str>, directory: Option<Directory>) {
        self.declared.insert(key, Declared::Directory(directory));
    }

    /// Declares an HTTP key: what the policy binds to it, and its handle where one is granted. The first handle also
    /// answers `wasi:http/outgoing-handler`.
    pub fn client_key(&mut self, key: Arc<str>, binding: Option<Arc<HttpBinding>>, client: Option<Client>) {
        if client.is_some() && self.default_client.is_none() {
            self.default_client = Some(Arc::clone(&key));
        }
        self.declared.insert(key, Declared::Client { client, binding });
    }

    /// Declares a store key, with its handle where one is granted.
    pub fn store_key(&mut self, key: Arc<str>, store: Option<Arc<dyn Store>>) {
        self.declared.insert(key, Declared::Store(store));
    }

    /// Declares a service key, with its handle where one is granted.
    pub fn service_key(&mut self, key: Arc<str>, service: Option<Arc<dyn Service>>) {
        self.declared.insert(key, Declared::Service(service));
    }

    pub(crate) fn directory(&self, key: &str) -> Result<&Directory, Unavailable> {
        match self.declared(key)? {
            Declared::Directory(directory) => directory.as_ref().ok_or_else(|| self.refused.note(key)),
            Declared::Client { .. } | Declared::Store(_) | Declared::Service(_) => Err(Unavailable::WrongKind),
        }
    }

    pub(crate) fn client(&self, key: &str) -> Result<&Client, Unavailable> {
        match self.declared(key)? {
            Declared::Client { client, .. } => client.as_ref().ok_or_else(|| self.refused.note(key)),
            Declared::Directory(_) | Declared::Store(_) | Declared::Service(_) => Err(Unavailable::WrongKind),
        }
    }

    pub(crate) fn default_client(&self) -> Option<&Client> {
        self.default_client.as_deref().and_then(|key| self.client(key).ok())
    }

    /// What the policy binds to an HTTP key, whether or not this call has the handle.
    pub(crate) fn http_binding(&self, key: &str) -> Result<&HttpBinding, Unavailable> {
        match self.declared(key)? {
            Declared::Client { binding, .. } => binding.as_deref().ok_or(Unavailable::NotGranted),
            Declared::Directory(_) | Declared::Store(_) | Declared::Service(_) => Err(Unavailable::WrongKind),
        }
    }

    pub(crate) fn store(&self, key: &str) -> Result<&Arc<dyn Store>, Unavailable> {
        match self.declared(key)? {
            Declared::Store(store) => store.as_ref().ok_or(Unavailable::NotGranted),
            Declared::Directory(_) | Declared::Client { .. } | Declared::Service(_) => Err(Unavailable::WrongKind),
        }
    }

    pub(crate) fn service(&self, key: &str) -> Result<&Arc<dyn Service>, Unavailable> {
        match self.declared(key)? {
            Declared::Service(service) => service.as_ref().ok_or(Unavailable::NotGranted),
            Declared::Directory(_) | Declared::Client { .. } | Declared::Store(_) => Err(Unavailable::WrongKind),
        }
    }

    /// The granted directories, each to be preopened under its key.
    pub(crate) fn directories(&self) -> impl Iterator<Item = (&str, &Directory)> {
        self.declared.iter().filter_map(|(key, declared)| match declared {
            Declared::Directory(Some(directory)) => Some((&**key, directory)),
            Declared::Directory(None) | Declared::Client { .. } | Declared::Store(_) | Declared::Service(_) => None,
        })
    }

    fn declared(&self, key: &str) -> Result<&Declared, Unavailable> {
        self.declared.get(key).ok_or(Unavailable::UnknownKey)
    }
}
