//! Opens what the policy binds to the keys of a loaded plugin.

use super::address::BoundAddress;
use super::bases::{Bases, Own};
use super::changeable::{Changeable, changeable};
use super::directory::BoundDirectory;
use super::error::GrantError;
use super::package::LocatedPackage;
use super::program::{BoundProgram, BoundServer};
use crate::audit::AuditError;
use crate::places::{self, OwnPlace};
use crate::project_policy::{GrantPlace, ProjectGrantError};
use portcullis_policy::{
    Access, Binding, ClockResolution, DependencyKey, DirectoryBinding, HttpBinding, InstanceLifetime, PluginName,
    Policy, ProcessBinding, ProcessNetwork, Scheme, ServerPolicy, ServiceBinding, StoreBinding, ToolsBinding,
};
use portcullis_sandbox::{Client, Directory, Network, PathBase, PluginSecrets, ProgramFile};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The grants of one plugin.
#[derive(Default)]
pub(crate) struct PluginGrants {
    keys: BTreeMap<DependencyKey, Grant>,
    /// The settings.
    pub(crate) config: Arc<BTreeMap<String, String>>,
    /// The resolution of its clocks.
    pub(crate) clock: ClockResolution,
    /// How long its instances live.
    pub(crate) instance: InstanceLifetime,
    /// The linear memory of a call. Its generator has as much.
    pub(crate) memory_bytes: usize,
    /// The secrets of its clients. All of its calls search for them.
    pub(crate) secrets: Arc<PluginSecrets>,
    /// Why the package of a server cannot be used. The server has no program then.
    pub(crate) package_fault: Option<String>,
}

/// The grant for one key.
pub(crate) enum Grant {
    /// An open directory.
    Directory(BoundDirectory),
    /// An HTTP client whose trust roots are already loaded.
    Client(Client),
    /// A store of the ledger.
    Store(StoreBinding),
    /// A service of the application.
    Service(ServiceBinding),
    /// A program that was opened and identified.
    Program(Box<BoundProgram>),
    /// Tools of other plugins.
    Tools(ToolsBinding),
    /// The address of an MCP server. Only the host connects to it.
    Address(Box<BoundAddress>),
}

impl PluginGrants {
    /// Returns the grant for a key.
    pub(crate) fn get(&self, key: &DependencyKey) -> Option<&Grant> {
        self.keys.get(key)
    }

    /// Returns the directory that is bound to a key.
    pub(crate) fn directory(&self, key: &DependencyKey) -> Option<&BoundDirectory> {
        let Grant::Directory(directory) = self.get(key)? else { return None };
        Some(directory)
    }

    /// Returns the first key whose directory would let the plugin change a place of the host's own.
    pub(crate) fn can_change(&self, own: &OwnPlace) -> io::Result<Option<&DependencyKey>> {
        for (key, grant) in &self.keys {
            let Grant::Directory(bound) = grant else { continue };
            if changeable(&bound.directory, Path::new(&bound.place), own)?.is_some() {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Returns what is bound to an MCP server: its program, or its address.
    pub(crate) fn server(&self) -> Option<&Grant> {
        self.get(&DependencyKey::new(ServerPolicy::BINDING).ok()?)
    }

    /// Returns the client that is bound to a key.
    pub(crate) fn client(&self, key: &DependencyKey) -> Option<&Client> {
        self.get(key)?.client()
    }
}

impl Grant {
    fn client(&self) -> Option<&Client> {
        match self {
            Self::Client(client) => Some(client),
            Self::Address(address) => Some(&address.client),
            Self::Directory(_) | Self::Store(_) | Self::Service(_) | Self::Program(_) | Self::Tools(_) => None,
        }
    }
}

/// Everything that opening a grant needs.
pub(crate) struct Opening<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) bases: &'a Bases,
    pub(crate) own: Own<'a>,
    pub(crate) network: &'a Network,
}

impl Opening<'_> {
    /// Makes ready everything that the policy binds to a plugin of this name.
    pub(super) fn grants(&self, plugin: &PluginName) -> Result<PluginGrants, GrantError> {
        let policy = self.policy;
        let mut keys = BTreeMap::new();
        for (key, binding) in policy.bindings(plugin) {
            let place = self.binding_place(plugin, key);
            place.check_trusted()?;
            let grant = match binding {
                Binding::Directory(binding) => Grant::Directory(place.directory(binding, self)?),
                Binding::Http(binding) => match policy.server(plugin).filter(|_| binding.server.is_some()) {
                    Some(server) => Grant::Address(Box::new(BoundAddress {
                        name: plugin.clone(),
                        client: place.client(binding, self.network)?,
                        policy: server.clone(),
                        limits: policy.limits(plugin),
                        base: place.base.clone(),
                        network: self.network.clone(),
                    })),
                    None => Grant::Client(place.client(binding, self.network)?),
                },
                Binding::Store(binding) => Grant::Store(place.store(*binding)?),
                Binding::Service(binding) => Grant::Service(binding.clone()),
                Binding::Tools(binding) => Grant::Tools(binding.clone()),
                // Programs come last, because they use the other grants.
                Binding::Process(_) => continue,
            };
            keys.insert(key.clone(), grant);
        }
        let (mut programs, mut package_fault) = (Vec::new(), None);
        for (key, binding) in policy.bindings(plugin) {
            let Binding::Process(binding) = binding else { continue };
            let place = self.binding_place(plugin, key);
            let located = binding
                .server_package()
                .map(|package| LocatedPackage::find(&self.own.state.path, package, plugin.as_str()));
            let located = match located.transpose() {
                Ok(located) => located,
                Err(fault) => {
                    package_fault = Some(fault);
                    continue;
                }
            };
            programs.push((key.clone(), Grant::Program(Box::new(place.program(binding, &keys, located, self)?))));
        }
        keys.extend(programs);
        let clients = keys.values().filter_map(Grant::client);
        let secrets = Arc::new(PluginSecrets::new(self.network, clients));
        Ok(PluginGrants {
            keys,
            config: Arc::new(policy.config(plugin).clone()),
            clock: policy.clock(plugin),
            instance: policy.instance(plugin),
            memory_bytes: policy.limits(plugin).memory_bytes,
            secrets,
            package_fault,
        })
    }

    /// Returns where a binding of the policy leads, and to where the user trusts it to lead.
    fn binding_place<'b>(&'b self, plugin: &'b PluginName, key: &'b DependencyKey) -> BindingPlace<'b> {
        let layer = self.policy.binding_layer(plugin, key);
        BindingPlace { plugin, key, base: self.bases.of(layer), trusted: self.bases.trusted_places(layer) }
    }
}

impl Opening<'_> {
    /// Opens one more directory for a plugin, under the same checks as a grant of the user's policy. The key is for
    /// messages.
    pub(crate) fn one_directory(
        &self,
        (plugin, key): (&PluginName, &DependencyKey),
        path: String,
        access: Access,
    ) -> Result<BoundDirectory, GrantError> {
        let (hidden, read_only, writable) = (Vec::new(), Vec::new(), Vec::new());
        let binding = DirectoryBinding { path, access, narrow: None, hidden, read_only, writable };
        BindingPlace { plugin, key, base: &self.bases.user, trusted: &[] }.directory(&binding, self)
    }
}

/// One binding of one plugin, and the base of its relative paths.
struct BindingPlace<'a> {
    plugin: &'a PluginName,
    key: &'a DependencyKey,
    base: &'a PathBase,
    /// The places of the project's grants that the user trusts, if the binding is the project's.
    trusted: &'a [GrantPlace],
}

impl BindingPlace<'_> {
    /// Refuses a grant of a project if it leads to another place than when it was trusted.
    fn check_trusted(&self) -> Result<(), GrantError> {
        for trusted in self.trusted.iter().filter(|trusted| self.has(trusted)) {
            let now = places::resolve(&self.base.join(&trusted.written)).map_err(AuditError::Io)?;
            self.check_opened(&trusted.written, &now)?;
        }
        Ok(())
    }

    /// Refuses what a path of a project led to, if it is at another place than when it was trusted. `now` has no links.
    fn check_opened(&self, written: &str, now: &Path) -> Result<(), GrantError> {
        let mut trusted = self.trusted.iter().filter(|trusted| self.has(trusted) && trusted.written == written);
        match trusted.all(|trusted| trusted.resolved == now) {
            true => Ok(()),
            false => Err(self.moved(written, now)),
        }
    }

    fn has(&self, place: &GrantPlace) -> bool {
        place.plugin == *self.plugin && place.key == *self.key
    }

    fn moved(&self, written: &str, now: &Path) -> GrantError {
        let (plugin, key) = (self.plugin.clone(), self.key.clone());
        ProjectGrantError::Moved { plugin, key, path: written.to_owned(), now: now.to_owned() }.into()
    }

    fn directory(&self, binding: &DirectoryBinding, opening: &Opening<'_>) -> Result<BoundDirectory, GrantError> {
        let path = self.base.join(&binding.path);
        let opened = Directory::open_from(self.base, Path::new(&binding.path), binding.access);
        let directory =
            opened.map_err(|error| GrantError::Grant { plugin: self.plugin.clone(), key: self.key.clone(), error })?;
        let (plugin, key, written) = (self.plugin, self.key, &binding.path);
        let place = places::resolve(&path).map_err(AuditError::Io)?;
        if let Some(what) = opening.own.covered_by(&directory, &place).map_err(AuditError::Io)? {
            return Err(GrantError::Covers { plugin: plugin.clone(), key: key.clone(), path: written.clone(), what });
        }
        // Check what was opened, because a link may have changed since the last check.
        if !directory.is_at(&place).map_err(AuditError::Io)? {
            return Err(self.moved(written, &place));
        }
        self.check_opened(written, &place)?;
        let directory = directory.masked(binding.masks());
        if let Some(Changeable { what, mask }) =
            opening.own.changeable_by(&directory, &place).map_err(AuditError::Io)?
        {
            let (plugin, key, path) = (plugin.clone(), key.clone(), written.clone());
            return Err(match mask {
                Some(mask) => GrantError::Unmasked { plugin, key, path, what, mask },
                None => GrantError::Covers { plugin, key, path, what },
            });
        }
        let place = place.to_string_lossy().into_owned();
        Ok(BoundDirectory { directory, place, narrow: binding.narrow.clone() })
    }

    fn store(&self, binding: StoreBinding) -> Result<StoreBinding, GrantError> {
        if cfg!(feature = "sqlite") {
            return Ok(binding);
        }
        Err(GrantError::NoStores { plugin: self.plugin.clone(), key: self.key.clone() })
    }

    fn program(
        &self,
        binding: &ProcessBinding,
        others: &BTreeMap<DependencyKey, Grant>,
        located: Option<LocatedPackage>,
        opening: &Opening<'_>,
    ) -> Result<BoundProgram, GrantError> {
        let client = match &binding.network {
            ProcessNetwork::None => None,
            ProcessNetwork::Http(name) => Some((name.clone(), self.program_client(name, others)?)),
        };
        let path = located.as_ref().map_or_else(|| self.base.join(&binding.program), |located| located.program.clone());
        let program = |error| GrantError::Program { plugin: self.plugin.clone(), key: self.key.clone(), error };
        let file = ProgramFile::open(&path).map_err(program)?;
        // Check what was opened, because a link may have changed since the last check.
        self.check_opened(&binding.program, file.path())?;
        let mut directories = Vec::new();
        for name in &binding.directories {
            let Some(Grant::Directory(bound)) = others.get(name) else {
                return Err(self.program_needs(format!("the directory `{name}`, which the policy does not bind")));
            };
            if bound.narrow.is_some() {
                let needs = format!("all of `{name}`, which `narrow` limits: bind the directory again, without it");
                return Err(self.program_needs(needs));
            }
            directories.push((name.clone(), bound.clone()));
        }
        let mut binding = binding.clone();
        if let Some(located) = &located {
            let failed = |error| GrantError::Grant { plugin: self.plugin.clone(), key: self.key.clone(), error };
            directories.extend(located.directories().map_err(failed)?);
            if let Some(server) = &mut binding.server {
                server.arguments.splice(0..0, located.arguments.iter().cloned());
            }
        }
        let server = opening.policy.server(self.plugin).filter(|_| binding.server.is_some());
        let server = server.map(|policy| BoundServer {
            key: self.key.clone(),
            binding,
            package: located.map(|located| located.installed),
            policy: policy.clone(),
            limits: opening.policy.limits(self.plugin),
            base: self.base.clone(),
            network: opening.network.clone(),
        });
        Ok(BoundProgram::new(path, file, directories, client, server))
    }

    /// Returns the client that decides and sends the requests of a program.
    fn program_client(
        &self,
        name: &DependencyKey,
        others: &BTreeMap<DependencyKey, Grant>,
    ) -> Result<Client, GrantError> {
        let Some(Grant::Client(client)) = others.get(name) else {
            return Err(self.program_needs(format!("the HTTP client `{name}`, which the policy does not bind")));
        };
        let binding = client.binding();
        if binding.narrow.is_some() {
            let needs = format!("all of `{name}`, which `narrow` limits: bind the client again, without it");
            return Err(self.program_needs(needs));
        }
        if binding.schemes.contains(&Scheme::Https) && !binding.opens_tunnels() {
            let needs = format!(
                "\"CONNECT\" in the methods of `{name}`, because programs encrypt their connections themselves: add it, \
                 or write schemes = [\"http\"]"
            );
            return Err(self.program_needs(needs));
        }
        Ok(client.clone())
    }

    fn program_needs(&self, needs: String) -> GrantError {
        GrantError::ProgramNeeds { plugin: self.plugin.clone(), key: self.key.clone(), needs }
    }

    fn client(&self, binding: &HttpBinding, network: &Network) -> Result<Client, GrantError> {
        let client = Client::new(network, Arc::new(binding.clone()), self.base.clone());
        let (plugin, key) = (self.plugin, self.key);
        client.map_err(|error| GrantError::Client { plugin: plugin.clone(), key: key.clone(), error })
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directories, and a link that changes")]
mod tests;
