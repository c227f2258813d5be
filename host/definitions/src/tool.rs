//! A tool of a plugin, and the handles that a plugin asks for.

use crate::manifest::DependencyKind;
use crate::schema::Schema;
use crate::text::hex;
use portcullis_policy::{Hint, Permissions, ToolName};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A handle that a plugin asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependency {
    /// The kind of the handle.
    pub kind: DependencyKind,
    /// Whether the plugin works without it.
    pub optional: bool,
    /// Why the plugin asks for it. Untrusted text.
    pub reason: String,
}

/// A tool of a loaded plugin. Its texts are untrusted: escape them with [`text`](crate::text) before you show them.
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
    /// Returns the full name.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// Returns the title. Untrusted text.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns the description. Untrusted text.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the schema of the arguments.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the schema of the JSON output, if the tool promises one.
    pub fn output_schema(&self) -> Option<&Schema> {
        self.output_schema.as_deref()
    }

    /// Compiles the schemas, unless they are compiled. A call does so itself if this was not done before.
    pub fn compile_schemas(&self) {
        self.schema.compile();
        self.output_schema().into_iter().for_each(Schema::compile);
    }

    /// Returns the permissions that the tool requires.
    pub fn required(&self) -> Permissions {
        self.required
    }

    /// Returns whether these permissions include all that the tool requires.
    pub fn works_with(&self, permissions: Permissions) -> bool {
        self.required.intersect(permissions) == self.required
    }

    /// Returns the permissions that the tool can use but does not require.
    pub fn optional(&self) -> Permissions {
        self.optional
    }

    /// Returns all permissions that the tool may use. The policy decides on them.
    pub fn permissions(&self) -> Permissions {
        self.required.union(self.optional)
    }

    /// Returns the author's claims about the tool.
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// Returns the SHA-256 of the tool's definition.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }
}

/// Replaces the description, which changes the definition and its hash.
pub fn describe(tool: &mut Tool, description: String) {
    // A definition's own hash is over JSON, which is longer than a hash. So no definition without a file has this hash.
    tool.sha256 = Sha256::new().chain_update(tool.sha256).chain_update(&description).finalize().into();
    tool.sha256_hex = Arc::from(hex(&tool.sha256));
    tool.description = description;
}

/// Returns the SHA-256 of a tool's definition in hexadecimal, which audit entries and approvals share.
pub fn sha256_hex(tool: &Tool) -> &Arc<str> {
    &tool.sha256_hex
}
