//! Resolves `$ref`: to the schema itself, a place in it, or an anchor.

use portcullis::plugins::schema_parts::pointer_of;
use serde_json::Value;

/// The references of one schema.
#[derive(Debug)]
pub(super) struct References<'a> {
    root: &'a Value,
}

/// The target of a reference.
#[derive(Clone, Debug)]
pub(super) struct ReferenceTarget<'a> {
    /// The schema.
    pub(super) schema: &'a Value,
    /// Its place.
    pub(super) at: String,
}

impl<'a> References<'a> {
    /// Creates the resolver for a schema.
    pub(super) fn of(root: &'a Value) -> Self {
        Self { root }
    }

    /// Returns the schema document.
    pub(super) fn root(&self) -> &'a Value {
        self.root
    }

    /// Returns the target of a reference. Accepted schemas have no reference without a target.
    pub(super) fn resolve(&self, reference: &Value) -> Option<ReferenceTarget<'a>> {
        let at = pointer_of(self.root, reference.as_str()?)?;
        Some(ReferenceTarget { schema: self.root.pointer(&at)?, at })
    }
}
