//! The state of rewriting one schema, and the parts that every keyword uses.

use super::definitions::ExportDefinitions;
use crate::export::notes::Notes;
use crate::export::schema::dialect::Dialect;
use crate::export::schema::references::References;
use crate::export::schema::{EXPORTED_DEPTH_MAX, INLINED_SUBSCHEMAS_MAX};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Maximum chain of references to follow when only the final target matters.
pub(super) const FOLLOWED_MAX: usize = 16;

/// A schema of the export.
pub(super) type BuiltSchema = Map<String, Value>;

/// The reason why a schema cannot be expressed in a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::export) struct Unfit {
    at: String,
    why: String,
}

impl Unfit {
    pub(super) fn new(at: &str, why: impl Into<String>) -> Self {
        Self { at: at.to_owned(), why: why.into() }
    }

    /// Notes that the tool is not strict.
    pub(in crate::export) fn note(self, notes: &mut Notes) {
        notes.add(&self.at, "strict", format!("not strict: {}", self.why));
    }

    /// Notes that the tool was left out.
    pub(in crate::export) fn note_left_out(self, notes: &mut Notes) {
        notes.add(&self.at, "tools", format!("the tool was left out: {}", self.why));
    }
}

/// Rewrites one schema.
pub(super) struct Rewriter<'a, 'b> {
    pub(super) dialect: &'static Dialect,
    pub(super) references: References<'a>,
    pub(super) notes: &'b mut Notes,
    pub(super) definitions: ExportDefinitions<'a>,
    /// Definitions that may be referenced only from optional members.
    pub(super) open: &'b BTreeSet<String>,
    /// The references that are being replaced, from the outermost.
    pub(super) within: Vec<String>,
    /// Number of optional properties on the way to this place.
    pub(super) optional: usize,
    pub(super) inlined: usize,
}

impl<'a, 'b> Rewriter<'a, 'b> {
    pub(super) fn new(
        schema: &'a Value,
        dialect: &'static Dialect,
        open: &'b BTreeSet<String>,
        notes: &'b mut Notes,
    ) -> Self {
        let references = References::of(schema);
        let definitions = ExportDefinitions::default();
        Self { dialect, references, notes, definitions, open, within: Vec::new(), optional: 0, inlined: 0 }
    }

    /// Returns a schema for any value. A strict dialect has none.
    pub(super) fn any(&mut self, at: &str, why: &str) -> Result<BuiltSchema, Unfit> {
        if self.dialect.strict {
            return Err(Unfit::new(at, format!("{why}, which a strict schema cannot express")));
        }
        Ok(if self.dialect.typed { self.scalars(at) } else { Map::new() })
    }

    /// Returns a schema for any value except lists and objects, which would need more keywords.
    pub(super) fn scalars(&mut self, at: &str) -> BuiltSchema {
        self.notes.add(at, "type", "narrowed to strings, numbers, booleans and null");
        let kind = |word: &str| json!({ "type": word });
        // One alternative has the flag for null, because no keyword may be beside alternatives.
        let first = json!({ "type": "string", "nullable": true });
        let any = Value::Array(vec![first, kind("number"), kind("boolean")]);
        Map::from_iter([("anyOf".to_owned(), any)])
    }

    /// Notes a keyword that cannot be exported. For a strict dialect, that is an error.
    pub(super) fn without(&mut self, at: &str, keyword: &str, why: &str) -> Result<(), Unfit> {
        if self.dialect.strict {
            return Err(Unfit::new(at, why));
        }
        self.notes.add(at, keyword, why);
        Ok(())
    }

    /// Returns whether the export would become too large here.
    pub(super) fn is_full(&self, depth: usize) -> bool {
        depth >= EXPORTED_DEPTH_MAX || self.inlined >= INLINED_SUBSCHEMAS_MAX
    }
}
