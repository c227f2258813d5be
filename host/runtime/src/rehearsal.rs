//! Runs the generator and the preparer of a plugin for a check: as a host does under its policy, but without any effect
//! on later calls. The plugin enters no catalog, and its tools are not pinned.

use crate::catalog::file::EXTENSION;
use crate::catalog::{self, LoadError, Plugin, PluginBytes, PreparedTools, ReducedTool};
use crate::conformance::Loaded;
use crate::grants;
use crate::inner::HostState;
use crate::reload;
use portcullis_definitions::manifest::Definition;
use portcullis_policy::{Audience, LocalName};
use portcullis_sandbox::Code;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A plugin with the grants of a host's policy, and with the tools that it generates under it.
pub struct Rehearsal {
    host: Arc<HostState>,
    plugin: Plugin,
    generated: Vec<Definition>,
}

impl fmt::Debug for Rehearsal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Rehearsal").field("plugin", &self.plugin).finish_non_exhaustive()
    }
}

/// What a caller is offered of a tool that it is not offered whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReducedOffer {
    /// Nothing, for a reason. Untrusted text.
    Hidden(String),
    /// A narrower definition.
    Narrowed,
}

impl Rehearsal {
    /// Gives a plugin its grants, and generates its tools. A host under the same policy refuses the plugin for the
    /// same errors.
    pub(crate) async fn begin(host: &Arc<HostState>, loaded: &Loaded, bytes: Vec<u8>) -> Result<Self, LoadError> {
        let file = format!("{}{EXTENSION}", loaded.manifest.name);
        let (engine, artefact) = (host.loader.engine.clone(), Arc::clone(&loaded.artefact));
        let (contract, manifest) = (loaded.contract(), loaded.manifest.clone());
        let assemble = move || {
            let (content, code) = (PluginBytes::registered(bytes)?, Code::load(&engine, &artefact)?);
            catalog::assemble(&file, &content, contract, manifest, Some(code))
        };
        let plugin = catalog::load_blocking(assemble).await?;
        let policy = host.policy();
        let mut plugin = reload::grant(host, &policy, &host.loader.plugins.held(), plugin).await?;
        let generated = host.loader.generate_unpinned(&mut plugin).await?;
        // Only now are the tools known whose arguments a binding can name.
        grants::check_keys(&policy.policy, &plugin).map_err(|error| LoadError::Grants(Box::new(error)))?;
        Ok(Self { host: Arc::clone(host), plugin, generated })
    }

    /// Returns the definitions of the generated tools. They are valid.
    pub fn generated(&self) -> &[Definition] {
        &self.generated
    }

    /// Asks the plugin what it offers to a caller. Returns the tools that the caller is not offered whole.
    ///
    /// # Errors
    /// The plugin could not say, or its answer is invalid.
    pub async fn prepare(&self, audience: &Audience<'_>) -> Result<BTreeMap<LocalName, ReducedOffer>, LoadError> {
        if !self.plugin.prepares {
            return Ok(BTreeMap::new());
        }
        match &*self.host.loader.prepared(&self.plugin, audience).await {
            PreparedTools::Failed(why) => Err(LoadError::Preparation(why.clone())),
            PreparedTools::Reduced(tools) => {
                Ok(tools.iter().map(|(name, tool)| (name.clone(), ReducedOffer::of(tool))).collect())
            }
        }
    }
}

impl ReducedOffer {
    fn of(tool: &ReducedTool) -> Self {
        match tool {
            ReducedTool::Hidden(why) => Self::Hidden(why.clone()),
            ReducedTool::Narrowed(_) => Self::Narrowed,
        }
    }
}
