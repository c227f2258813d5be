//! The rewriting of one schema: what its parts share, and what may be said anywhere.

use super::definitions::ExportDefinitions;
use crate::export::notes::Notes;
use crate::export::schema::dialect::Dialect;
use crate::export::schema::references::References;
use crate::export::schema::{EXPORTED_DEPTH_MAX, INLINED_SUBSCHEMAS_MAX};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// References that are followed one after the other, where only one answer of them matters.
pub(super) const FOLLOWED_MAX: usize = 16;

/// A schema of the export.
pub(super) type BuiltSchema = Map<String, Value>;

/// Why a schema cannot be said in a dialect.
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

    /// Notes that the tool is not there.
    pub(in crate::export) fn note_left_out(self, notes: &mut Notes) {
        notes.add(&self.at, "tools", format!("the tool was left out: {}", self.why));
    }
}

/// The rewriting of one schema.
pub(super) struct Rewriter<'a, 'b> {
    pub(super) dialect: &'static Dialect,
    pub(super) references: References<'a>,
    pub(super) notes: &'b mut Notes,
    pub(super) definitions: ExportDefinitions<'a>,
    /// What may be referred to only where it can be left out.
    pub(super) open: &'b BTreeSet<String>,
    /// What is being said in place of a reference, from the outside.
    pub(super) within: Vec<String>,
    /// Properties on the way here that can be left out.
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

    /// Any value, where no more can be said of it.
    pub(super) fn any(&mut self, at: &str, why: &str) -> Result<BuiltSchema, Unfit> {
        if self.dialect.strict {
            return Err(Unfit::new(at, format!("{why}, and a strict schema cannot say so")));
        }
        Ok(if self.dialect.typed { self.scalars(at) } else { Map::new() })
    }

    /// Any value that is no list and no object, which have to say what is in them.
    pub(super) fn scalars(&mut self, at: &str) -> BuiltSchema {
        self.notes.add(at, "type", "narrowed to strings, numbers, booleans and null");
        let kind = |word: &str| json!({ "type": word });
        let first = json!({ "type": "string", "nullable": true });
        let any = Value::Array(vec![first, kind("number"), kind("boolean")]);
        Map::from_iter([("anyOf".to_owned(), any)])
    }

    /// Goes on without what cannot be said, unless arguments are held to the export.
    pub(super) fn without(&mut self, at: &str, keyword: &str, why: &str) -> Result<(), Unfit> {
        if self.dialect.strict {
            return Err(Unfit::new(at, why));
        }
        self.notes.add(at, keyword, why);
        Ok(())
    }

    /// Whether the export would become too large here.
    pub(super) fn is_full(&self, depth: usize) -> bool {
        depth >= EXPORTED_DEPTH_MAX || self.inlined >= INLINED_SUBSCHEMAS_MAX
    }
}
