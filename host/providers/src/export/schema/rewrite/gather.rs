//! Gathers everything that applies at one place of a schema.

use super::rewriter::{Rewriter, Unfit};
use crate::export::schema::dialect::ReferenceStyle;
use crate::export::schema::keywords::is_annotation;
use crate::export::schema::pointer::below;
use crate::export::schema::references::ReferenceTarget;
use serde_json::{Map, Value};

/// A schema that applies at a place.
#[derive(Clone, Debug)]
pub(super) struct SchemaPart<'a> {
    pub(super) schema: &'a Value,
    /// Its place.
    pub(super) at: String,
}

/// The keywords of such a schema.
#[derive(Clone, Debug)]
pub(super) struct KeywordSource<'a> {
    pub(super) members: &'a Map<String, Value>,
    /// Its place.
    pub(super) at: String,
}

/// Everything that applies at a place.
pub(super) enum Gathered<'a> {
    /// No value can match.
    Nothing,
    /// A reference to another place, with its own annotations.
    Reference(ReferenceTarget<'a>, Vec<KeywordSource<'a>>),
    /// All of these sources, and the references that led to them.
    All(Vec<KeywordSource<'a>>, Vec<String>),
}

/// The matches and the page so far.
#[derive(Default)]
struct Met<'a> {
    sources: Vec<KeywordSource<'a>>,
    references: Vec<(ReferenceTarget<'a>, String)>,
    nothing: bool,
}

impl<'a> Met<'a> {
    fn part(&mut self, rewriter: &mut Rewriter<'a, '_>, part: &SchemaPart<'a>) -> Result<(), Unfit> {
        let members = match part.schema {
            Value::Object(members) => members,
            other => {
                self.nothing |= *other == Value::Bool(false);
                return Ok(());
            }
        };
        self.sources.push(KeywordSource { members, at: part.at.clone() });
        if let Some(text) = members.get("$ref") {
            match rewriter.references.resolve(text) {
                Some(target) => self.references.push((target, part.at.clone())),
                None => rewriter.without(&part.at, "$ref", "left out: the reference has no target")?,
            }
        }
        let parts = members.get("allOf").and_then(Value::as_array);
        for (place, schema) in parts.into_iter().flatten().enumerate() {
            self.part(rewriter, &SchemaPart { schema, at: below(&part.at, "allOf", &place.to_string()) })?;
        }
        Ok(())
    }
}

impl<'a> Rewriter<'a, '_> {
    /// Gathers everything that applies where these parts do.
    pub(super) fn gather(&mut self, parts: &[SchemaPart<'a>], depth: usize) -> Result<Gathered<'a>, Unfit> {
        let mut met = Met::default();
        for part in parts {
            met.part(self, part)?;
        }
        let says_only = |source: &KeywordSource<'_>| {
            source.members.keys().all(|keyword| is_annotation(keyword) || matches!(keyword.as_str(), "$ref" | "allOf"))
        };
        let plain = met.references.len() == 1 && met.sources.iter().all(says_only);
        // At the root, the target takes the place of a reference, because the root must be an object itself.
        if plain && !met.nothing && depth > 0 && self.dialect.references != ReferenceStyle::Inlined {
            let target = met.references.remove(0).0;
            return Ok(Gathered::Reference(target, met.sources));
        }
        let mut led = Vec::new();
        let mut next = 0;
        while let Some((target, from)) = met.references.get(next).cloned() {
            next += 1;
            // Several parts may refer to one schema, which then applies once.
            if led.contains(&target.at) {
                continue;
            }
            if self.within.contains(&target.at) || target.at.is_empty() {
                self.without(&from, "$ref", "any value: the reference is recursive")?;
            } else {
                led.push(target.at.clone());
                met.part(self, &SchemaPart { schema: target.schema, at: target.at })?;
            }
        }
        Ok(if met.nothing { Gathered::Nothing } else { Gathered::All(met.sources, led) })
    }
}
