//! How well a plugin keeps the contract, in levels that each include those before (docs/conformance.md).
//!
//! The last level is reached by running: each tool once, with the smallest arguments that its schema takes, and the
//! plugin once for a tool that it never offered. A run has no handle, little time, and nobody to ask.

mod smallest;
mod trial;

use crate::catalog::{self, Lint, LoadError};
use crate::text::OneLine;
use portcullis_sandbox::{Code, Compiler, Contract, Engine, Manifest};
pub use trial::NotTried;
use trial::Trial;

/// How well a plugin keeps the contract. A greater level includes the lesser ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// A host does not load it.
    Refused,
    /// A host loads it: it imports what is served, and describes itself, always in the same way, as the contract says.
    Loads,
    /// Nothing that it says of itself has to be mended.
    Clear,
    /// Every tool ends with an answer or a failure of the contract, also without any handle.
    Robust,
}

impl Level {
    /// The highest.
    pub const HIGHEST: Self = Self::Robust;

    /// Its number, from 0.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Loads => "loads",
            Self::Clear => "clear",
            Self::Robust => "robust",
        }
    }

    /// The level above.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Refused => Some(Self::Loads),
            Self::Loads => Some(Self::Clear),
            Self::Clear => Some(Self::Robust),
            Self::Robust => None,
        }
    }
}

/// What level a plugin has, and why no higher one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conformance {
    /// The level.
    pub level: Level,
    /// What keeps it from the next one, each in a line; words of the plugin may be quoted.
    pub kept_from_next: Vec<String>,
    /// The tools that were not tried, which says nothing of them.
    pub not_tried: Vec<NotTried>,
}

/// A plugin as far as its description.
pub struct Loaded {
    /// What it says of itself.
    pub manifest: Manifest,
    code: Code,
}

impl Loaded {
    /// Loads bytes as a host would, keeping nothing.
    ///
    /// # Errors
    /// Why a host would not.
    pub async fn load(name: &str, bytes: &[u8], engine: &Engine, compiler: &Compiler) -> Result<Self, LoadError> {
        let (manifest, code) = catalog::examine(name, bytes, engine, compiler).await?;
        Ok(Self { manifest, code })
    }

    /// The version of the contract that it speaks.
    pub fn contract(&self) -> Contract {
        self.code.contract()
    }

    /// Whether it wants a say in whether its calls run.
    pub fn reviews(&self) -> bool {
        self.code.reviews()
    }

    /// Whether it computes what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.code.previews()
    }

    /// Its level. `lints` are what has to be mended in what it says of itself; it runs only where there is nothing.
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
