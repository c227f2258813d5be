//! Conformance: how well a plugin keeps the contract, in levels that each include the lower ones (docs/conformance.md).
//!
//! The highest level requires trial runs: of each tool, with the smallest arguments that match its schema, and of a
//! tool that the plugin does not offer. A run has no handles, little time and no approver.

mod smallest;
mod trial;

use crate::catalog::{self, CodeCache, LoadError};
use crate::text::OneLine;
use portcullis_definitions::lint::Lint;
use portcullis_definitions::manifest::Manifest;
use portcullis_sandbox::{Artefact, Code, Compiler, Contract, Engine};
use std::sync::Arc;
pub use trial::NotTried;
use trial::Trial;

/// A level of conformance. A higher level includes the lower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// A host refuses the plugin.
    Refused,
    /// A host loads the plugin: it only imports served interfaces, and its description is valid and always the same.
    Loads,
    /// The plugin's description has no lints.
    Clear,
    /// Every tool ends with a valid answer or failure, even without any handle.
    Robust,
}

impl Level {
    /// The highest level.
    pub const HIGHEST: Self = Self::Robust;

    /// Returns the number of the level, from 0.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Loads => "loads",
            Self::Clear => "clear",
            Self::Robust => "robust",
        }
    }

    /// Returns the next higher level.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Refused => Some(Self::Loads),
            Self::Loads => Some(Self::Clear),
            Self::Clear => Some(Self::Robust),
            Self::Robust => None,
        }
    }
}

/// The conformance level of a plugin, and why it is not higher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conformance {
    /// The level.
    pub level: Level,
    /// What keeps the plugin from the next level, one line each. The lines may quote text of the plugin.
    pub kept_from_next: Vec<String>,
    /// The tools that were not run. That does not affect the level.
    pub not_tried: Vec<NotTried>,
}

/// A plugin that was loaded for a conformance check.
pub struct Loaded {
    /// The plugin's manifest.
    pub manifest: Manifest,
    code: Code,
    pub(crate) artefact: Arc<Artefact>,
}

impl Loaded {
    /// Loads bytes like a host. Caches the compiled code, if there is a cache, and nothing else.
    ///
    /// # Errors
    /// A host would refuse the plugin.
    pub async fn load(
        name: &str,
        bytes: &[u8],
        engine: &Engine,
        compiler: &Compiler,
        cache: Option<&CodeCache>,
    ) -> Result<Self, LoadError> {
        let (manifest, code, artefact) = catalog::examine(name, bytes, engine, compiler, cache).await?;
        Ok(Self { manifest, code, artefact: Arc::new(artefact) })
    }

    /// Returns the version of the contract that the plugin uses.
    pub fn contract(&self) -> Contract {
        self.code.contract()
    }

    /// Returns whether the plugin has a reviewer.
    pub fn reviews(&self) -> bool {
        self.code.reviews()
    }

    /// Returns whether the plugin can preview what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.code.previews()
    }

    /// Returns whether the plugin makes tools from its settings and its directories.
    pub fn generates(&self) -> bool {
        self.code.generates()
    }

    /// Returns whether the plugin offers some callers less of its tools.
    pub fn prepares(&self) -> bool {
        self.code.prepares()
    }

    /// Determines the level. `lints` are those of the manifest. The tools are run only if there are none.
    pub async fn conformance(&self, lints: &[Lint], engine: &Engine) -> Conformance {
        if !lints.is_empty() {
            let told = lints.iter().map(told).collect();
            return Conformance { level: Level::Loads, kept_from_next: told, not_tried: Vec::new() };
        }
        let tried = Trial { manifest: &self.manifest, code: &self.code, engine }.all().await;
        let level = if tried.troubles.is_empty() { Level::Robust } else { Level::Clear };
        Conformance { level, kept_from_next: tried.troubles, not_tried: tried.not_tried }
    }
}

fn told(lint: &Lint) -> String {
    let tool = lint.tool.as_deref().map(|tool| format!("{}: ", OneLine(tool))).unwrap_or_default();
    format!("{tool}{} ({})", OneLine(&lint.what), lint.rule.name())
}
