//! A loaded plugin: what was checked at load, and stays as it was.

use super::beside::Beside;
use super::definition;
use super::tool::{Dependency, Tool};
use crate::text::hex;
use portcullis_policy::{DependencyKey, LocalName, PluginName};
use portcullis_sandbox::{Code, Contract, InUse, Manifest};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// What was checked of a plugin at load. It stays as it was. Its texts are the author's words: show them through
/// [`crate::text`].
pub struct LoadedPlugin {
    pub(crate) name: PluginName,
    pub(crate) file: String,
    pub(crate) sha256: [u8; 32],
    pub(crate) sha256_hex: Arc<str>,
    pub(crate) bytes: u64,
    /// `None` for a built-in plugin.
    pub(crate) contract: Option<Contract>,
    pub(crate) imports: Vec<String>,
    pub(crate) reviews: bool,
    pub(crate) previews: bool,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) dependencies: BTreeMap<DependencyKey, Dependency>,
    /// The description files.
    pub(crate) beside: Beside,
    /// The tools with the plugin's own descriptions. A description file may replace a description in `tools`.
    pub(crate) own_tools: BTreeMap<LocalName, Arc<Tool>>,
    /// The code, which is mapped on first use. All bindings of the same bytes share it.
    pub(crate) code: OnceCell<Code>,
    /// Keeps the cached code from being removed.
    pub(super) in_use: Option<Arc<InUse>>,
}

impl LoadedPlugin {
    /// Creates a built-in plugin from its manifest. It has no file, so its hash is that of the manifest. Returns `None`
    /// if the manifest is invalid.
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
            dependencies: checked.dependencies,
            beside: Beside::default(),
            own_tools: checked.tools,
            code: OnceCell::default(),
            in_use: None,
        })
    }
}
