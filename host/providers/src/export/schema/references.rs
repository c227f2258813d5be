//! What `$ref` refers to: the schema itself, a place in it, or an anchor.

use portcullis::plugins::schema_parts::pointer_of;
use serde_json::Value;

/// The references of one schema.
#[derive(Debug)]
pub(super) struct References<'a> {
    root: &'a Value,
}

/// A schema that is referred to.
#[derive(Clone, Debug)]
pub(super) struct Target<'a> {
    /// The schema.
    pub(super) schema: &'a Value,
    /// Where it stands.
    pub(super) at: String,
}

impl<'a> References<'a> {
    /// Those of a schema.
    pub(super) fn of(root: &'a Value) -> Self {
        Self { root }
    }

    /// The schema itself.
    pub(super) fn root(&self) -> &'a Value {
        self.root
    }

    /// What a reference refers to. Nothing is what no accepted schema has.
    pub(super) fn resolve(&self, reference: &Value) -> Option<Target<'a>> {
        let at = pointer_of(self.root, reference.as_str()?)?;
        Some(Target { schema: self.root.pointer(&at)?, at })
    }
}
