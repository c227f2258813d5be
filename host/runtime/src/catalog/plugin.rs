//! A loaded plugin and its tools: what was checked at load, and stays as it was.

use super::beside::Beside;
use super::definition;
use super::tool::{Dependency, Tool};
use crate::grants::Grants;
use crate::reserved;
use crate::text::hex;
use portcullis_policy::{DependencyKey, LocalName, PluginName};
use portcullis_sandbox::{Code, Contract, InUse, Manifest};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A loaded plugin. Its texts are the author's words: show them through [`crate::text`].
pub struct Plugin {
    pub(crate) name: PluginName,
    pub(crate) file: String,
    pub(crate) sha256: [u8; 32],
    pub(crate) sha256_hex: Arc<str>,
    pub(crate) bytes: u64,
    /// None where it is the host's own.
    pub(crate) contract: Option<Contract>,
    pub(crate) imports: Vec<String>,
    pub(crate) reviews: bool,
    pub(crate) previews: bool,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) tools: BTreeMap<LocalName, Arc<Tool>>,
    pub(crate) dependencies: BTreeMap<DependencyKey, Dependency>,
    /// What the policy gives it. A call keeps its plugin, and with it what it started with.
    pub(crate) grants: Grants,
    /// Its description files.
    pub(crate) beside: Beside,
    /// Its tools as it describes them itself. A description file may replace a description.
    pub(crate) own_tools: BTreeMap<LocalName, Arc<Tool>>,
    /// Mapped on first use. Shared by every binding of the same bytes.
    pub(crate) code: Arc<OnceCell<Code>>,
    /// Keeps the cached code from making room for others.
    pub(super) in_use: Option<Arc<InUse>>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Plugin").field("name", &self.name).field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Plugin {
    /// A plugin of the host's own, which has no file: what it is, is what it says. Nothing where its description would
    /// be refused.
    pub(crate) fn standard(manifest: Manifest) -> Option<Self> {
        let name = PluginName::new(&manifest.name).ok()?;
        let checked = definition::check(&name, &manifest).ok()?;
        let sha256: [u8; 32] = Sha256::digest(serde_json::to_vec(&manifest).ok()?).into();
        Some(Self {
            name,
            file: String::new(),
            sha256,
            sha256_hex: Arc::from(hex(&sha256)),
            bytes: 0,
            contract: None,
            imports: Vec::new(),
            reviews: false,
            previews: false,
            version: manifest.version,
            description: manifest.description,
            tools: checked.tools.clone(),
            dependencies: checked.dependencies,
            grants: Grants::default(),
            beside: Beside::default(),
            own_tools: checked.tools,
            code: Arc::default(),
            in_use: None,
        })
    }

    /// Returns the same plugin without its grants and with its own descriptions, to be bound under another policy.
    pub(crate) fn unbound(&self) -> Self {
        Self {
            name: self.name.clone(),
            file: self.file.clone(),
            sha256: self.sha256,
            sha256_hex: Arc::clone(&self.sha256_hex),
            bytes: self.bytes,
            contract: self.contract,
            imports: self.imports.clone(),
            reviews: self.reviews,
            previews: self.previews,
            version: self.version.clone(),
            description: self.description.clone(),
            tools: self.own_tools.clone(),
            dependencies: self.dependencies.clone(),
            grants: Grants::default(),
            beside: self.beside.clone(),
            own_tools: self.own_tools.clone(),
            code: Arc::clone(&self.code),
            in_use: self.in_use.clone(),
        }
    }

    /// Whether it is the host's own: it has no file, and its tools need no sandbox.
    pub fn is_standard(&self) -> bool {
        reserved::is_reserved(&self.name)
    }

    /// The name.
    pub fn name(&self) -> &PluginName {
        &self.name
    }

    /// The SHA-256 of its bytes: what it is.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// The size of its file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The version of the contract it speaks; none where it is the host's own.
    pub fn contract(&self) -> Option<Contract> {
        self.contract
    }

    /// What it imports: all of it is served, or it would not be loaded.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Whether it wants a say in whether its calls run.
    pub fn reviews(&self) -> bool {
        self.reviews
    }

    /// Whether it computes what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.previews
    }

    /// The author's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What it is for.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Its tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(|tool| &**tool)
    }

    /// The handles it asks for, by key.
    pub fn dependencies(&self) -> &BTreeMap<DependencyKey, Dependency> {
        &self.dependencies
    }
}
