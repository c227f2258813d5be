//! The schema in a provider's own dialect, built anew from the authoritative one.
//!
//! A place of the schema is seen as everything that has to hold there: itself, what it refers to, and every part of an
//! `allOf`. So what a dialect has no word for is put together where that says the same.

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

/// References that are followed one after the other, where only one answer of them matters.
const FOLLOWED_MAX: usize = 16;

/// A schema of the export.
type Built = Map<String, Value>;

/// Why a schema cannot be said in a dialect.
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

    /// Notes that the tool is not there.
    pub(in crate::export) fn note_left_out(self, notes: &mut Notes) {
        notes.add(&self.at, "tools", format!("the tool was left out: {}", self.why));
    }
}

/// A tool's schema in a dialect.
///
/// # Errors
/// It cannot be said there. Then nothing is noted.
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
            return Err(Unfit::new("", "it refers to what it is part of"));
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

/// The rewriting of one schema.
struct Rewriter<'a, 'b> {
    dialect: &'static Dialect,
    references: References<'a>,
    notes: &'b mut Notes,
    definitions: Definitions<'a>,
    /// What may be referred to only where it can be left out.
    open: &'b BTreeSet<String>,
    /// What is being said in place of a reference, from the outside.
    within: Vec<String>,
    /// Properties on the way here that can be left out.
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
        let mut root = root.ok_or_else(|| Unfit::new("", "no arguments would ever be right"))?;
        let mut definitions = Map::new();
        while let Some((name, target)) = self.definitions.next() {
            self.optional = 0;
            let part = Part { schema: target.schema, at: target.at.clone() };
            let built = match self.place(&[part], 1)? {
                Some(built) => built,
                None => self.any(&target.at, "no value would ever be right")?,
            };
            definitions.insert(name, Value::Object(built));
        }
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), Value::Object(definitions));
        }
        Ok((root, self.definitions))
    }

    /// Any value, where no more can be said of it.
    fn any(&mut self, at: &str, why: &str) -> Result<Built, Unfit> {
        if self.dialect.strict {
            return Err(Unfit::new(at, format!("{why}, and a strict schema cannot say so")));
        }
        Ok(if self.dialect.typed { self.scalars(at) } else { Map::new() })
    }

    /// Any value that is no list and no object, which have to say what is in them.
    fn scalars(&mut self, at: &str) -> Built {
        self.notes.add(at, "type", "narrowed to strings, numbers, booleans and null");
        let kind = |word: &str| json!({ "type": word });
        let first = json!({ "type": "string", "nullable": true });
        let any = Value::Array(vec![first, kind("number"), kind("boolean")]);
        Map::from_iter([("anyOf".to_owned(), any)])
    }

    /// Goes on without what cannot be said, unless arguments are held to the export.
    fn without(&mut self, at: &str, keyword: &str, why: &str) -> Result<(), Unfit> {
        if self.dialect.strict {
            return Err(Unfit::new(at, why));
        }
        self.notes.add(at, keyword, why);
        Ok(())
    }

    /// Whether the export would become too large here.
    fn is_full(&self, depth: usize) -> bool {
        depth >= EXPORTED_DEPTH_MAX || self.inlined >= INLINED_SUBSCHEMAS_MAX
    }
}
