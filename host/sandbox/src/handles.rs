//! The handles of one call, by key. A guest can reach nothing else.

use crate::directory::Directory;
use crate::http::{Client, PluginSecrets};
use crate::keyvalue::Store;
use crate::program::Program;
use crate::service::Service;
use crate::surroundings::Surroundings;
use crate::toolset::Toolset;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{DependencyKind, HttpBinding};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Why a key has no handle for this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The plugin's manifest does not declare the key.
    UnknownKey,
    /// The call has no grant for the key.
    NotGranted,
    /// The key is declared with another kind.
    WrongKind,
    /// The handle could not be opened.
    Failed,
}

/// The handles of one call. A new value has none.
#[derive(Clone, Default)]
pub struct Handles {
    declared: BTreeMap<Arc<str>, DeclaredKey>,
    /// The key of the client that also serves `wasi:http/outgoing-handler`.
    default_client: Option<Arc<str>>,
    pub(crate) surroundings: Surroundings,
    secrets: Option<Arc<PluginSecrets>>,
    refused: RefusedKeys,
}

/// The declared keys of directories, clients and programs that a guest tried to open without a handle. Clones share the
/// list.
#[derive(Clone, Debug, Default)]
pub struct RefusedKeys(Arc<Mutex<BTreeSet<Box<str>>>>);

impl RefusedKeys {
    /// Returns the keys, sorted. All of them are declared.
    pub fn keys(&self) -> Vec<Box<str>> {
        self.0.lock_recovered().iter().cloned().collect()
    }

    fn note(&self, key: &str) -> Unavailable {
        self.0.lock_recovered().insert(key.into());
        Unavailable::NotGranted
    }
}

#[derive(Clone)]
enum DeclaredKey {
    Directory(Option<Directory>),
    Client { client: Option<Client>, binding: Option<Arc<HttpBinding>> },
    Store(Option<Arc<dyn Store>>),
    Service(Option<Arc<dyn Service>>),
    Program(Option<Program>),
    Tools(Option<Toolset>),
}

impl Handles {
    /// Returns handles without any key.
    pub fn none() -> Self {
        Self::default()
    }

    /// Sets the settings, the clocks and the randomness of the call.
    pub fn set_surroundings(&mut self, surroundings: Surroundings) {
        self.surroundings = surroundings;
    }

    /// Sets the secrets to search for: all that are bound to the plugin, whether or not this call gets their clients.
    /// By default, the secrets of the call's own clients are searched for.
    pub fn set_secrets(&mut self, secrets: Arc<PluginSecrets>) {
        self.secrets = Some(secrets);
    }

    /// Returns the list of keys that the guest could not open. Take it before the run, and read it afterwards.
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
        self.declared.values().filter_map(|declared| {
            let DeclaredKey::Client { client, .. } = declared else { return None };
            client.as_ref()
        })
    }

    /// Declares a key of any kind without a handle.
    pub fn ungranted_key(&mut self, key: Arc<str>, kind: DependencyKind) {
        match kind {
            DependencyKind::Directory => self.directory_key(key, None),
            DependencyKind::Http => self.client_key(key, None, None),
            DependencyKind::Store => self.store_key(key, None),
            DependencyKind::Service => self.service_key(key, None),
            DependencyKind::Process => self.program_key(key, None),
            DependencyKind::Tools => drop(self.declared.insert(key, DeclaredKey::Tools(None))),
        }
    }

    /// Declares a directory key, with its handle if one is granted.
    pub fn directory_key(&mut self, key: Arc<str>, directory: Option<Directory>) {
        self.declared.insert(key, DeclaredKey::Directory(directory));
    }

    /// Declares an HTTP key, with the policy's binding, and its handle if one is granted. The first handle also serves
    /// `wasi:http/outgoing-handler`.
    pub fn client_key(&mut self, key: Arc<str>, binding: Option<Arc<HttpBinding>>, client: Option<Client>) {
        if client.is_some() && self.default_client.is_none() {
            self.default_client = Some(Arc::clone(&key));
        }
        self.declared.insert(key, DeclaredKey::Client { client, binding });
    }

    /// Declares a store key, with its handle if one is granted.
    pub fn store_key(&mut self, key: Arc<str>, store: Option<Arc<dyn Store>>) {
        self.declared.insert(key, DeclaredKey::Store(store));
    }

    /// Declares a service key, with its handle if one is granted.
    pub fn service_key(&mut self, key: Arc<str>, service: Option<Arc<dyn Service>>) {
        self.declared.insert(key, DeclaredKey::Service(service));
    }

    /// Declares a key of a program, with its handle if one is granted.
    pub fn program_key(&mut self, key: Arc<str>, program: Option<Program>) {
        self.declared.insert(key, DeclaredKey::Program(program));
    }

    /// Declares a key of a set of tools, with its handle. The host of the call decides which tools it has.
    pub fn tools_key(&mut self, key: Arc<str>) {
        let toolset = Toolset::new(Arc::clone(&key));
        self.declared.insert(key, DeclaredKey::Tools(Some(toolset)));
    }

    pub(crate) fn directory(&self, key: &str) -> Result<&Directory, Unavailable> {
        let DeclaredKey::Directory(directory) = self.declared(key)? else { return Err(Unavailable::WrongKind) };
        directory.as_ref().ok_or_else(|| self.refused.note(key))
    }

    pub(crate) fn client(&self, key: &str) -> Result<&Client, Unavailable> {
        let DeclaredKey::Client { client, .. } = self.declared(key)? else { return Err(Unavailable::WrongKind) };
        client.as_ref().ok_or_else(|| self.refused.note(key))
    }

    pub(crate) fn default_client(&self) -> Option<&Client> {
        self.default_client.as_deref().and_then(|key| self.client(key).ok())
    }

    /// Returns the policy's binding of an HTTP key, whether or not this call has the handle.
    pub(crate) fn http_binding(&self, key: &str) -> Result<&HttpBinding, Unavailable> {
        let DeclaredKey::Client { binding, .. } = self.declared(key)? else { return Err(Unavailable::WrongKind) };
        binding.as_deref().ok_or(Unavailable::NotGranted)
    }

    pub(crate) fn store(&self, key: &str) -> Result<&Arc<dyn Store>, Unavailable> {
        let DeclaredKey::Store(store) = self.declared(key)? else { return Err(Unavailable::WrongKind) };
        store.as_ref().ok_or(Unavailable::NotGranted)
    }

    pub(crate) fn service(&self, key: &str) -> Result<&Arc<dyn Service>, Unavailable> {
        let DeclaredKey::Service(service) = self.declared(key)? else { return Err(Unavailable::WrongKind) };
        service.as_ref().ok_or(Unavailable::NotGranted)
    }

    pub(crate) fn program(&self, key: &str) -> Result<&Program, Unavailable> {
        let DeclaredKey::Program(program) = self.declared(key)? else { return Err(Unavailable::WrongKind) };
        program.as_ref().ok_or_else(|| self.refused.note(key))
    }

    pub(crate) fn toolset(&self, key: &str) -> Result<Toolset, Unavailable> {
        let DeclaredKey::Tools(toolset) = self.declared(key)? else { return Err(Unavailable::WrongKind) };
        toolset.clone().ok_or(Unavailable::NotGranted)
    }

    /// Returns the granted directories with their keys, to preopen them.
    pub(crate) fn directories(&self) -> impl Iterator<Item = (&str, &Directory)> {
        self.declared.iter().filter_map(|(key, declared)| {
            let DeclaredKey::Directory(Some(directory)) = declared else { return None };
            Some((&**key, directory))
        })
    }

    /// Returns the keys of the declared directories that are not granted.
    pub(crate) fn ungranted_directories(&self) -> impl Iterator<Item = &str> {
        let is_ungranted = |declared: &DeclaredKey| matches!(declared, DeclaredKey::Directory(None));
        self.declared.iter().filter(move |(_, declared)| is_ungranted(declared)).map(|(key, _)| &**key)
    }

    fn declared(&self, key: &str) -> Result<&DeclaredKey, Unavailable> {
        self.declared.get(key).ok_or(Unavailable::UnknownKey)
    }
}
