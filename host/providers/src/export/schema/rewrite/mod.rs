//! Rebuilds the authoritative schema in a provider's dialect.
//!
//! A place of the schema is treated as everything that applies there: the schema itself, its reference targets, and
//! every part of an `allOf`. So keywords that a dialect lacks are merged if the result means the same.

mod array;
mod conjunction;
mod definitions;
mod gather;
mod object;
mod union;
mod values;

use super::dialect::{Dialect, Kept};
use super::references::References;
use super::words::{Words, append};
use super::{Census, EXPORTED_DEPTH_MAX, INLINED_SUBSCHEMAS_MAX};
use crate::definitions::Defined;
use crate::export::notes::Notes;
use definitions::Definitions;
use gather::Part;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Maximum chain of references to follow when only the final target matters.
const FOLLOWED_MAX: usize = 16;

/// A schema of the export.
type Built = Map<String, Value>;

/// Why a schema cannot be expressed in a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::export) struct Unfit {
    at: String,
    why: String,
}

impl Unfit {
    fn new(at: &str, why: impl Into<String>) -> Self {
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

/// Returns a tool's schema in a dialect.
///
/// # Errors
/// The dialect cannot express it. Then nothing is noted.
pub(in crate::export) fn rewritten(
    tool: &Defined,
    dialect: &'static Dialect,
    notes: &mut Notes,
) -> Result<Value, Unfit> {
    let schema = tool.offer.tool.schema().document();
    let mut found = Notes::default();
    let mut open = BTreeSet::new();
    let first = Rewriter::new(schema, dialect, &open, &mut found).whole()?;
    let built = match first.1.cycles(dialect.references) {
        None => first.0,
        Some(_) if dialect.references == Kept::Acyclic => {
            return Err(Unfit::new("", "the reference is recursive"));
        }
        Some(cycles) => {
            open = cycles;
            found = Notes::default();
            Rewriter::new(schema, dialect, &open, &mut found).whole()?.0
        }
    };
    let built = Value::Object(built);
    if let Some(why) = dialect.limits.then(|| Census::of(&built).beyond_openai()).flatten() {
        return Err(Unfit::new("", why));
    }
    notes.append(found);
    Ok(built)
}

/// Rewrites one schema.
struct Rewriter<'a, 'b> {
    dialect: &'static Dialect,
    references: References<'a>,
    notes: &'b mut Notes,
    definitions: Definitions<'a>,
    /// Definitions that may be referenced only from optional members.
    open: &'b BTreeSet<String>,
    /// The references that are being replaced, from the outermost.
    within: Vec<String>,
    /// Number of optional properties on the way to this place.
    optional: usize,
    inlined: usize,
}

impl<'a, 'b> Rewriter<'a, 'b> {
    fn new(schema: &'a Value, dialect: &'static Dialect, open: &'b BTreeSet<String>, notes: &'b mut Notes) -> Self {
        let references = References::of(schema);
        let definitions = Definitions::default();
        Self { dialect, references, notes, definitions, open, within: Vec::new(), optional: 0, inlined: 0 }
    }

    fn whole(mut self) -> Result<(Built, Definitions<'a>), Unfit> {
        let root = Part { schema: self.references.root(), at: String::new() };
        let root = self.root(root)?;
        let mut root = root.ok_or_else(|| Unfit::new("", "no arguments can match"))?;
        let mut definitions = Map::new();
        while let Some((name, target)) = self.definitions.next() {
            self.optional = 0;
            let part = Part { schema: target.schema, at: target.at.clone() };
            let built = match self.place(&[part], 1)? {
                Some(built) => built,
                None => self.any(&target.at, "no value can match")?,
            };
            definitions.insert(name, Value::Object(built));
        }
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), Value::Object(definitions));
        }
        Ok((root, self.definitions))
    }

    /// Returns a schema for any value. A strict dialect has none.
    fn any(&mut self, at: &str, why: &str) -> Result<Built, Unfit> {
        if self.dialect.strict {
            return Err(Unfit::new(at, format!("{why}, which a strict schema cannot express")));
        }
        Ok(if self.dialect.typed { self.scalars(at) } else { Map::new() })
    }

    /// Returns a schema for any value except lists and objects, which would need more keywords.
    fn scalars(&mut self, at: &str) -> Built {
        self.notes.add(at, "type", "narrowed to strings, numbers, booleans and null");
        let kind = |word: &str| json!({ "type": word });
        let first = json!({ "type": "string", "nullable": true });
        let any = Value::Array(vec![first, kind("number"), kind("boolean")]);
        Map::from_iter([("anyOf".to_owned(), any)])
    }

    /// Notes a keyword that cannot be exported. For a strict dialect, that is an error.
    fn without(&mut self, at: &str, keyword: &str, why: &str) -> Result<(), Unfit> {
        if self.dialect.strict {
            return Err(Unfit::new(at, why));
        }
        self.notes.add(at, keyword, why);
        Ok(())
    }

    /// Returns whether the export would become too large here.
    fn is_full(&self, depth: usize) -> bool {
        depth >= EXPORTED_DEPTH_MAX || self.inlined >= INLINED_SUBSCHEMAS_MAX
    }
}
