//! Rebuilds the authoritative schema in a provider's dialect.
//!
//! A place of the schema is treated as everything that applies there: the schema itself, its reference targets, and
//! every part of an `allOf`. So keywords that a dialect lacks are merged if the result means the same.

mod array;
mod conjunction;
mod definitions;
mod gather;
mod nullable;
mod object;
mod rewriter;
mod union;
mod values;

use super::ExportCensus;
use super::dialect::{Dialect, ReferenceStyle};
use crate::definitions::Defined;
use crate::export::notes::Notes;
use definitions::ExportDefinitions;
use gather::SchemaPart;
use rewriter::{BuiltSchema, Rewriter, Unfit};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

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
    // The first pass finds the references that form cycles. A second one leaves out those that are not permitted.
    let first = Rewriter::new(schema, dialect, &open, &mut found).whole()?;
    let built = match first.1.cycles(dialect.references) {
        None => first.0,
        Some(_) if dialect.references == ReferenceStyle::Acyclic => {
            return Err(Unfit::new("", "the reference is recursive"));
        }
        Some(cycles) => {
            open = cycles;
            found = Notes::default();
            Rewriter::new(schema, dialect, &open, &mut found).whole()?.0
        }
    };
    let built = Value::Object(built);
    if let Some(why) = dialect.limits.then(|| ExportCensus::of(&built).beyond_openai()).flatten() {
        return Err(Unfit::new("", why));
    }
    notes.append(found);
    Ok(built)
}

impl<'a> Rewriter<'a, '_> {
    fn whole(mut self) -> Result<(BuiltSchema, ExportDefinitions<'a>), Unfit> {
        let root = SchemaPart { schema: self.references.root(), at: String::new() };
        let root = self.root(root)?;
        let mut root = root.ok_or_else(|| Unfit::new("", "no arguments can match"))?;
        let mut definitions = Map::new();
        while let Some((name, target)) = self.definitions.next() {
            // Required members may use the definition too, so the optional members that lead to it do not count.
            self.optional = 0;
            let part = SchemaPart { schema: target.schema, at: target.at.clone() };
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
}
