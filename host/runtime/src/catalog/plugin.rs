//! A loaded plugin and its tools. They were checked when the plugin was loaded, and are immutable.

use super::beside::Beside;
use super::load_error::LoadError;
use super::plugin_source::{PluginSource, ServerToolFacts};
use super::prepared::PreparedCallers;
use super::server_file::server_file;
use crate::grants::PluginGrants;
use crate::native::{NativeFunction, NativeManifest};
use crate::reserved;
use crate::servers::{ServerAction, ServerLink};
use crate::text::hex;
use portcullis_definitions::definition::{self, DefinitionError};
use portcullis_definitions::manifest::{self, Manifest};
use portcullis_definitions::tool::{Dependency, Tool};
use portcullis_policy::{DependencyKey, DependencyKind, LocalName, PluginName, ServerPolicy};
use portcullis_sandbox::{Code, CodeStore, Contract, InUse};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::OnceCell;

/// A loaded plugin. Its texts are untrusted: escape them with [`crate::text`] before you show them.
pub struct Plugin {
    pub(crate) name: PluginName,
    pub(crate) source: PluginSource,
    /// The name of its file. Empty if it has none.
    pub(crate) file: String,
    pub(crate) sha256: [u8; 32],
    pub(crate) sha256_hex: Arc<str>,
    pub(crate) bytes: u64,
    /// `None` for a built-in or native plugin, and for a server.
    pub(crate) contract: Option<Contract>,
    pub(crate) imports: Vec<String>,
    pub(crate) reviews: bool,
    pub(crate) previews: bool,
    pub(crate) generates: bool,
    pub(crate) prepares: bool,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) tools: BTreeMap<LocalName, Arc<Tool>>,
    pub(crate) dependencies: BTreeMap<DependencyKey, Dependency>,
    /// The grants of the policy. A call keeps its plugin, and so the grants that it started with.
    pub(crate) grants: PluginGrants,
    /// The description files.
    pub(crate) beside: Beside,
    /// The tools with the plugin's own descriptions. A description file may replace a description in `tools`.
    pub(crate) own_tools: BTreeMap<LocalName, Arc<Tool>>,
    /// The tools of the manifest, without the generated ones.
    pub(crate) manifest_tools: BTreeMap<LocalName, Arc<Tool>>,
    /// The code, which is mapped on first use. All bindings of the same bytes share it.
    pub(crate) code: Arc<OnceCell<Code>>,
    /// What the plugin offers to its recent callers, if it prepares its tools.
    pub(super) prepared: PreparedCallers,
    /// Keeps the cached code from being removed.
    pub(super) in_use: Option<Arc<InUse>>,
    /// Why a server lists more tools than the plugin has.
    pub(crate) withheld: Vec<Arc<LoadError>>,
    /// How many changes a server had announced when it last listed what the plugin has.
    pub(super) announced: AtomicU64,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Plugin").field("name", &self.name).field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Plugin {
    /// Marks the cached code of the plugin as used, so that the cache keeps it.
    pub(super) fn used_in(mut self, store: &CodeStore) -> Self {
        self.in_use = store.mark_in_use(&self.sha256).map(Arc::new);
        self
    }

    /// Creates a built-in plugin from its manifest. Returns `None` if the manifest is invalid.
    pub(crate) fn standard(manifest: Manifest) -> Option<Self> {
        let name = PluginName::new(&manifest.name).ok()?;
        Self::without_file(name, &[], manifest, PluginSource::BuiltIn).ok()
    }

    /// Creates a native plugin from its manifest and functions.
    ///
    /// # Errors
    /// The manifest is invalid.
    pub(crate) fn native(name: PluginName, native: NativeManifest) -> Result<Self, Vec<DefinitionError>> {
        let NativeManifest { manifest, functions } = native;
        // Approvals name the hash. With the prefix, it differs from that of a built-in plugin with the same manifest.
        Self::without_file(name, b"native\n", manifest, PluginSource::Native(functions))
    }

    /// Creates the plugin of a server, which has no tools yet.
    pub(crate) fn server(name: PluginName, (kind, sha256): (DependencyKind, [u8; 32]), link: Arc<ServerLink>) -> Self {
        let server = manifest::Dependency {
            key: ServerPolicy::BINDING.to_owned(),
            kind,
            optional: false,
            reason: "The server itself.".to_owned(),
        };
        let manifest = Manifest {
            name: name.to_string(),
            version: "unknown".to_owned(),
            description: format!("The tools of the MCP server {name}."),
            tools: Vec::new(),
            dependencies: vec![server],
        };
        // All of it is the host's own text. Without the program, no call could be made.
        let checked = definition::check_generating(&name, &manifest);
        Self {
            source: PluginSource::Server(link, Arc::default()),
            file: server_file(&name),
            version: manifest.version,
            description: manifest.description,
            dependencies: checked.map(|checked| checked.dependencies).unwrap_or_default(),
            ..Self::empty(name, sha256)
        }
    }

    /// Sets the tools of a server, and what the host knows of them.
    pub(super) fn set_server_tools(
        &mut self,
        tools: BTreeMap<LocalName, Arc<Tool>>,
        facts: BTreeMap<LocalName, ServerToolFacts>,
    ) {
        if let PluginSource::Server(_, known) = &mut self.source {
            *known = Arc::new(facts);
            self.own_tools = tools.clone();
            self.tools = tools;
        }
    }

    /// Returns the same plugin of a server with the connection of another one.
    pub(crate) fn with_link_of(self, other: &Self) -> Self {
        match &other.source {
            PluginSource::Server(link, names) => {
                Self { source: PluginSource::Server(Arc::clone(link), Arc::clone(names)), ..self }
            }
            PluginSource::BuiltIn | PluginSource::File | PluginSource::Component | PluginSource::Native(_) => self,
        }
    }

    /// Creates a plugin that has no file. Its hash is that of a prefix and its manifest.
    fn without_file(
        name: PluginName,
        prefix: &[u8],
        manifest: Manifest,
        source: PluginSource,
    ) -> Result<Self, Vec<DefinitionError>> {
        let checked = definition::check(&name, &manifest)?;
        // A checked manifest consists of texts, so it always serializes.
        let text = serde_json::to_vec(&manifest).unwrap_or_default();
        let sha256: [u8; 32] = Sha256::new_with_prefix(prefix).chain_update(text).finalize().into();
        Ok(Self {
            source,
            version: manifest.version,
            description: manifest.description,
            tools: checked.tools.clone(),
            dependencies: checked.dependencies,
            own_tools: checked.tools.clone(),
            manifest_tools: checked.tools,
            ..Self::empty(name, sha256)
        })
    }

    /// Returns a built-in plugin without tools.
    pub(super) fn empty(name: PluginName, sha256: [u8; 32]) -> Self {
        Self {
            name,
            source: PluginSource::BuiltIn,
            file: String::new(),
            sha256,
            sha256_hex: Arc::from(hex(&sha256)),
            bytes: 0,
            contract: None,
            imports: Vec::new(),
            reviews: false,
            previews: false,
            generates: false,
            prepares: false,
            version: String::new(),
            description: String::new(),
            tools: BTreeMap::new(),
            dependencies: BTreeMap::new(),
            grants: PluginGrants::default(),
            beside: Beside::default(),
            own_tools: BTreeMap::new(),
            manifest_tools: BTreeMap::new(),
            code: Arc::default(),
            prepared: PreparedCallers::default(),
            in_use: None,
            withheld: Vec::new(),
            announced: AtomicU64::default(),
        }
    }

    /// Returns the same plugin as one that the application has registered, and so without a file.
    pub(crate) fn registered(self) -> Self {
        Self { source: PluginSource::Component, file: String::new(), ..self }
    }

    /// Returns the same plugin without its grants and with its own descriptions, to be bound under another policy.
    pub(crate) fn unbound(&self) -> Self {
        Self {
            name: self.name.clone(),
            source: self.source.clone(),
            file: self.file.clone(),
            sha256: self.sha256,
            sha256_hex: Arc::clone(&self.sha256_hex),
            bytes: self.bytes,
            contract: self.contract,
            imports: self.imports.clone(),
            reviews: self.reviews,
            previews: self.previews,
            generates: self.generates,
            prepares: self.prepares,
            version: self.version.clone(),
            description: self.description.clone(),
            tools: self.own_tools.clone(),
            dependencies: self.dependencies.clone(),
            grants: PluginGrants::default(),
            beside: self.beside.clone(),
            own_tools: self.own_tools.clone(),
            manifest_tools: self.manifest_tools.clone(),
            code: Arc::clone(&self.code),
            // The answers of `prepare` depend on the grants, so they are not copied.
            prepared: PreparedCallers::default(),
            in_use: self.in_use.clone(),
            withheld: self.withheld.clone(),
            announced: AtomicU64::new(self.announced.load(Ordering::Acquire)),
        }
    }

    /// Returns whether another plugin has the same tools, before description files are applied.
    pub(crate) fn has_tools_of(&self, other: &Self) -> bool {
        let tools = |plugin: &Self| plugin.own_tools.values().map(|tool| tool.sha256()).collect::<Vec<_>>();
        self.own_tools.keys().eq(other.own_tools.keys()) && tools(self) == tools(other)
    }

    /// Returns whether this is a built-in plugin, which has no file and runs without a sandbox.
    pub fn is_standard(&self) -> bool {
        reserved::is_reserved(&self.name)
    }

    /// Returns whether the tools of this plugin are functions of the application, which run without a sandbox.
    pub fn is_native(&self) -> bool {
        matches!(self.source, PluginSource::Native(_))
    }

    /// Returns whether the tools of this plugin are those of an MCP server that the policy names.
    pub fn is_server(&self) -> bool {
        matches!(self.source, PluginSource::Server(..))
    }

    /// Returns the way to the server.
    pub(super) fn server_source(&self) -> Option<&ServerLink> {
        let PluginSource::Server(link, _) = &self.source else { return None };
        Some(link)
    }

    /// Returns what a call of a server's tool asks the server for.
    pub(crate) fn server_action(&self, tool: &LocalName) -> Option<&ServerAction> {
        self.server_facts(tool).map(|facts| &facts.action)
    }

    /// Returns how a server describes a tool now, if that is not what was accepted.
    pub(crate) fn held_tool(&self, tool: &LocalName) -> Option<&Arc<str>> {
        self.server_facts(tool)?.held.as_ref()
    }

    /// Returns whether another plugin holds the same tools, for the same reasons.
    pub(crate) fn holds_tools_of(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (PluginSource::Server(_, own), PluginSource::Server(_, others)) => own == others,
            _ => true,
        }
    }

    /// Returns whether a server has announced a change since it listed what the plugin has. The number belongs to the
    /// plugin, so that a list that fails, or that never enters the catalog, leaves the change to the next reload.
    pub(crate) fn is_out_of_date(&self) -> bool {
        self.server_source().is_some_and(|link| link.announced() != self.announced.load(Ordering::Acquire))
    }

    /// Notes that a newer list of a server has the same tools.
    pub(crate) fn confirm_with(&self, newer: &Self) {
        self.announced.store(newer.announced.load(Ordering::Acquire), Ordering::Release);
    }

    fn server_facts(&self, tool: &LocalName) -> Option<&ServerToolFacts> {
        let PluginSource::Server(_, facts) = &self.source else { return None };
        facts.get(tool)
    }

    /// Returns whether the application has registered this plugin ([`crate::Host::register`]).
    pub fn is_registered(&self) -> bool {
        matches!(self.source, PluginSource::Component | PluginSource::Native(_))
    }

    /// Returns whether the plugin was loaded from a file of a plugin directory.
    pub(crate) fn is_from_file(&self) -> bool {
        matches!(self.source, PluginSource::File)
    }

    /// Returns whether the plugin is a component, which runs in a sandbox.
    pub(crate) fn is_component(&self) -> bool {
        matches!(self.source, PluginSource::File | PluginSource::Component)
    }

    /// Returns the function of a tool, if it is a native one.
    pub(crate) fn native_function(&self, tool: &LocalName) -> Option<&NativeFunction> {
        let PluginSource::Native(functions) = &self.source else { return None };
        functions.get(tool.as_str())
    }

    /// Returns the name.
    pub fn name(&self) -> &PluginName {
        &self.name
    }

    /// Returns the SHA-256 of the plugin's bytes, which identifies it.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// Returns the size of the plugin's file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the version of the contract that the plugin uses. Returns `None` for a built-in or native
    /// plugin.
    pub fn contract(&self) -> Option<Contract> {
        self.contract
    }

    /// Returns the interfaces that the plugin imports. The host serves all of them.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Returns whether the plugin has a reviewer.
    pub fn reviews(&self) -> bool {
        self.reviews
    }

    /// Returns whether the plugin can preview what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.previews
    }

    /// Returns whether the plugin makes tools from its settings and its directories.
    pub fn generates(&self) -> bool {
        self.generates
    }

    /// Returns whether the plugin offers some callers less of its tools.
    pub fn prepares(&self) -> bool {
        self.prepares
    }

    /// Returns the plugin's version. Untrusted text.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the plugin's description. Untrusted text.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the plugin's tools, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(|tool| &**tool)
    }

    /// Returns the handles that the plugin asks for, by key.
    pub fn dependencies(&self) -> &BTreeMap<DependencyKey, Dependency> {
        &self.dependencies
    }
}
