//! A tool of a plugin, and the handles that a plugin asks for.

use crate::schema::Schema;
use crate::text::hex;
use portcullis_policy::{Hint, Permissions, ToolName};
use portcullis_sandbox::DependencyKind;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A handle a plugin asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependency {
    /// What it is.
    pub kind: DependencyKind,
    /// Whether the plugin can do without.
    pub optional: bool,
    /// Why; untrusted text.
    pub reason: String,
}

/// A tool of a loaded plugin. Its texts are the author's words: show them through [`crate::text`].
#[derive(Clone, Debug)]
pub struct Tool {
    pub(crate) name: ToolName,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) schema: Arc<Schema>,
    pub(crate) output_schema: Option<Arc<Schema>>,
    pub(crate) required: Permissions,
    pub(crate) optional: Permissions,
    pub(crate) hints: Vec<Hint>,
    pub(crate) sha256: [u8; 32],
    pub(crate) sha256_hex: Arc<str>,
}

impl Tool {
    /// Gives it another description, and so makes it another definition.
    pub(super) fn describe(&mut self, description: String) {
        // What the plugin says is JSON and never so short: no definition has this hash without a description file.
        self.sha256 = Sha256::new().chain_update(self.sha256).chain_update(&description).finalize().into();
        self.sha256_hex = Arc::from(hex(&self.sha256));
        self.description = description;
    }

    /// The full name.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// A few words.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What it does.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The schema of its arguments.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The schema of its JSON output.
    pub fn output_schema(&self) -> Option<&Schema> {
        self.output_schema.as_deref()
    }

    /// Rights it cannot do without.
    pub fn required(&self) -> Permissions {
        self.required
    }

    /// Whether it can work with these rights: it cannot do without some of others.
    pub fn works_with(&self, permissions: Permissions) -> bool {
        self.required.intersect(permissions) == self.required
    }

    /// Rights it can use.
    pub fn optional(&self) -> Permissions {
        self.optional
    }

    /// Every right it may use: what the policy decides on.
    pub fn permissions(&self) -> Permissions {
        self.required.union(self.optional)
    }

    /// What its author claims.
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// The SHA-256 of its definition.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }
}
