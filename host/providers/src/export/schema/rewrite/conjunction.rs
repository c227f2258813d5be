//! Rewrites one place of a schema, type by type.

use super::gather::{Gathered, KeywordSource, SchemaPart};
use super::nullable::allow_null;
use super::rewriter::{BuiltSchema, Rewriter, Unfit};
use super::union::Alternatives;
use crate::export::schema::dialect::{ReferenceStyle, Types};
use crate::export::schema::keywords::{is_annotation, is_structure};
use crate::export::schema::kinds::Kinds;
use crate::export::schema::pointer::reference;
use crate::export::schema::references::ReferenceTarget;
use crate::export::schema::words::{Words, append};
use serde_json::{Map, Value, json};

/// Keywords that are not exported one by one.
const PUT_TOGETHER: [&str; 15] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "description",
    "enum",
    "items",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "properties",
    "required",
    "type",
    "unevaluatedProperties",
];

impl<'a> Rewriter<'a, '_> {
    /// Rewrites the root, which must be an object and has more restrictions than other places.
    pub(super) fn root(&mut self, part: SchemaPart<'a>) -> Result<Option<BuiltSchema>, Unfit> {
        self.limited(&[part], Kinds::OBJECT, 0)
    }

    /// Rewrites a place where all these parts apply. Returns none if no value could match.
    pub(super) fn place(&mut self, parts: &[SchemaPart<'a>], depth: usize) -> Result<Option<BuiltSchema>, Unfit> {
        self.limited(parts, Kinds::ALL, depth)
    }

    /// Does the same for values of some kinds.
    pub(super) fn limited(
        &mut self,
        parts: &[SchemaPart<'a>],
        kinds: Kinds,
        depth: usize,
    ) -> Result<Option<BuiltSchema>, Unfit> {
        let at = parts.first().map(|part| part.at.clone()).unwrap_or_default();
        self.inlined += usize::from(!self.within.is_empty());
        if self.is_full(depth) {
            self.without(&at, "$ref", "any value: the schema would become too large")?;
            return self.any(&at, "it would become too large").map(Some);
        }
        match self.gather(parts, depth)? {
            Gathered::Nothing => Ok(None),
            Gathered::Reference(target, texts) => {
                let says = target.schema.get("type").map_or(Kinds::ALL, Kinds::of_type);
                if !says.without(kinds).is_empty() {
                    self.notes.add(&at, "type", "left out at a reference, because the definition has its own type");
                }
                self.referring(&target, &texts, &at).map(Some)
            }
            Gathered::All(sources, led) => {
                let outside = self.within.len();
                self.within.extend(led);
                let built = self.conjunction(&sources, kinds, &at, depth);
                self.within.truncate(outside);
                built
            }
        }
    }

    fn referring(
        &mut self,
        target: &ReferenceTarget<'a>,
        texts: &[KeywordSource<'a>],
        at: &str,
    ) -> Result<BuiltSchema, Unfit> {
        let optional = self.optional > 0;
        if self.open.contains(&target.at) && !optional && self.definitions.is_within(self.open) {
            self.without(at, "$ref", "any value: the reference is recursive")?;
            return self.any(at, "the reference is recursive");
        }
        let text = if target.at.is_empty() && self.dialect.references == ReferenceStyle::WithRoot {
            "#".to_owned()
        } else {
            reference(&format!("/$defs/{}", self.definitions.name(target, optional)))
        };
        let built = Map::from_iter([("$ref".to_owned(), Value::String(text))]);
        // No other keyword may be next to a reference.
        let mut around = Map::new();
        self.tell(&mut around, texts, Words::default());
        if around.is_empty() {
            return Ok(built);
        }
        around.insert("anyOf".to_owned(), json!([built]));
        Ok(around)
    }

    fn conjunction(
        &mut self,
        sources: &[KeywordSource<'a>],
        kinds: Kinds,
        at: &str,
        depth: usize,
    ) -> Result<Option<BuiltSchema>, Unfit> {
        let typed = sources.iter().filter_map(|source| source.members.get("type"));
        let kinds = typed.fold(kinds, |kinds, word| kinds.and(Kinds::of_type(word)));
        let values = listed(sources, kinds);
        let kinds = values
            .as_ref()
            .map_or(kinds, |values| values.iter().fold(Kinds::NONE, |kinds, value| kinds.or(Kinds::of_value(value))));
        if kinds.is_empty() {
            return Ok(None);
        }
        let alternatives = Alternatives::of(sources);
        let solid = values.is_some() || sources.iter().any(|source| source.is_solid(kinds));
        let mut words = Words::default();
        let mut built = match alternatives.as_slice() {
            // Alternatives alone have no type beside them. The root needs one, because it must be an object.
            [one] if !solid && depth > 0 => match self.union(one, kinds, depth)? {
                Some(built) => built,
                None => return Ok(None),
            },
            [one] if self.dialect.alternatives_beside => {
                let Some(union) = self.union(one, kinds, depth)? else { return Ok(None) };
                let mut built = self.said(sources, kinds, values.as_deref(), at, depth, &mut words)?;
                for (keyword, value) in union {
                    built.entry(keyword).or_insert(value);
                }
                built
            }
            several => {
                for one in several {
                    words.say(&one.at, one.keyword, one.value, self.notes);
                }
                self.said(sources, kinds, values.as_deref(), at, depth, &mut words)?
            }
        };
        self.tell(&mut built, sources, words);
        Ok(Some(built))
    }

    /// Exports the keywords for values of these kinds, without annotations.
    fn said(
        &mut self,
        sources: &[KeywordSource<'a>],
        kinds: Kinds,
        values: Option<&[&'a Value]>,
        at: &str,
        depth: usize,
        words: &mut Words,
    ) -> Result<BuiltSchema, Unfit> {
        let kinds = if kinds == Kinds::ALL && self.dialect.typed {
            let about =
                sources.iter().flat_map(|source| source.members.keys()).map(|keyword| Kinds::of_keyword(keyword));
            let about = about.filter(|about| *about != Kinds::ALL).fold(Kinds::NONE, Kinds::or);
            if about.is_empty() {
                return self.any(at, "it is any value");
            }
            self.notes.add(at, "type", "narrowed to the types that its other keywords apply to");
            about
        } else {
            kinds
        };
        let all = kinds.words();
        let (null, rest): (Vec<_>, Vec<_>) = all.iter().copied().partition(|(word, _)| *word == "null");
        let nullable = self.dialect.types == Types::Nullable && !null.is_empty() && !rest.is_empty();
        let apart = if nullable { rest } else { all };
        let listed_apart = values.is_some_and(|_| self.dialect.types != Types::List || !self.dialect.forces_null);
        let mut built = match (self.dialect.types, apart.as_slice()) {
            (_, [(_, kind)]) => self.kind(sources, *kind, values, at, depth, words)?,
            (Types::List, _) if !listed_apart => self.kind(sources, kinds, values, at, depth, words)?,
            _ => {
                let mut branches = Vec::new();
                for (_, kind) in &apart {
                    let mut words = Words::default();
                    let mut branch = self.kind(sources, *kind, values, at, depth, &mut words)?;
                    words.write(&mut branch);
                    branches.push(Value::Object(branch));
                }
                Map::from_iter([("anyOf".to_owned(), Value::Array(branches))])
            }
        };
        if nullable {
            allow_null(&mut built);
        }
        Ok(built)
    }

    /// Exports the keywords for values of kinds that share one schema.
    fn kind(
        &mut self,
        sources: &[KeywordSource<'a>],
        kinds: Kinds,
        values: Option<&[&'a Value]>,
        at: &str,
        depth: usize,
        words: &mut Words,
    ) -> Result<BuiltSchema, Unfit> {
        let mut built = Map::new();
        let types: Vec<Value> = kinds.words().into_iter().map(|(word, _)| Value::from(word)).collect();
        match types.as_slice() {
            _ if kinds == Kinds::ALL => {}
            [one] => drop(built.insert("type".to_owned(), one.clone())),
            _ => drop(built.insert("type".to_owned(), Value::Array(types))),
        }
        if let Some(values) = values {
            self.values(&mut built, sources, values, kinds, words)?;
        }
        for source in sources {
            self.leaves(&mut built, source, kinds, words);
        }
        if kinds.meets(Kinds::OBJECT) && (kinds != Kinds::ALL || has(sources, Kinds::OBJECT)) {
            self.object(&mut built, sources, at, depth, words)?;
        }
        if kinds.meets(Kinds::ARRAY) && (kinds != Kinds::ALL || has(sources, Kinds::ARRAY)) {
            self.array(&mut built, sources, at, depth, words)?;
        }
        Ok(built)
    }

    /// Exports keywords unchanged, or moves them to the description.
    fn leaves(&mut self, built: &mut BuiltSchema, source: &KeywordSource<'a>, kinds: Kinds, words: &mut Words) {
        for (keyword, value) in source.members {
            let keyword = keyword.as_str();
            let about = Kinds::of_keyword(keyword);
            // A keyword for kinds that cannot occur here has no effect.
            let vacuous = !about.meets(kinds);
            if vacuous || is_annotation(keyword) || PUT_TOGETHER.contains(&keyword) {
                continue;
            }
            if let Some((bound, value)) = inclusive(keyword, value, kinds)
                && (self.dialect.keeps)(bound, &value)
                && !(self.dialect.keeps)(keyword, &value)
            {
                self.keep(built, &source.at, bound, &value, words);
                continue;
            }
            if (self.dialect.keeps)(keyword, value) {
                self.keep(built, &source.at, keyword, value, words);
            } else {
                words.say(&source.at, keyword, value, self.notes);
            }
        }
    }

    fn keep(&mut self, built: &mut BuiltSchema, at: &str, keyword: &str, value: &Value, words: &mut Words) {
        match built.get(keyword) {
            Some(other) if other != value => words.say(at, keyword, value, self.notes),
            Some(_) => {}
            None => drop(built.insert(keyword.to_owned(), value.clone())),
        }
    }

    /// Adds the descriptions and other annotations of a place.
    fn tell(&mut self, built: &mut BuiltSchema, sources: &[KeywordSource<'a>], mut words: Words) {
        let mut told = Map::new();
        for source in sources {
            for (keyword, value) in source.members {
                match (keyword.as_str(), value) {
                    ("description", Value::String(text)) => append(&mut told, text),
                    (keyword, _) if is_structure(keyword) || !is_annotation(keyword) => {}
                    (keyword, value) if !built.contains_key("$ref") && (self.dialect.keeps)(keyword, value) => {
                        self.keep(built, &source.at, keyword, value, &mut words);
                    }
                    (keyword, value) => words.say(&source.at, keyword, value, self.notes),
                }
            }
        }
        let below = built.remove("description");
        built.extend(told);
        append(built, below.as_ref().and_then(Value::as_str).unwrap_or_default());
        words.write(built);
        if self.dialect.types == Types::Nullable {
            lean(built);
        }
    }
}

impl KeywordSource<'_> {
    /// Returns whether it has keywords for values of these kinds other than types, references and combinations.
    fn is_solid(&self, kinds: Kinds) -> bool {
        let other = |keyword: &str| matches!(keyword, "type" | "anyOf" | "oneOf" | "allOf" | "$ref");
        let solid =
            |keyword: &str| !is_annotation(keyword) && !other(keyword) && Kinds::of_keyword(keyword).meets(kinds);
        self.members.keys().any(|keyword| solid(keyword))
    }
}

/// Returns whether any keyword applies to exactly this kind.
fn has(sources: &[KeywordSource<'_>], kind: Kinds) -> bool {
    sources.iter().flat_map(|source| source.members.keys()).any(|keyword| Kinds::of_keyword(keyword) == kind)
}

/// Returns the listed values, if there are any.
fn listed<'a>(sources: &[KeywordSource<'a>], kinds: Kinds) -> Option<Vec<&'a Value>> {
    let mut found: Option<Vec<&'a Value>> = None;
    for source in sources {
        let one = source.members.get("const").map(std::slice::from_ref);
        let some = source.members.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        for list in [one, some].into_iter().flatten() {
            let fits = |value: &&Value| kinds.meets(Kinds::of_value(value));
            found = Some(match found {
                None => list.iter().filter(fits).collect(),
                Some(found) => found.into_iter().filter(|value| list.contains(value)).collect(),
            });
        }
    }
    found
}

/// Returns the equivalent inclusive bound for integers.
fn inclusive(keyword: &str, value: &Value, kinds: Kinds) -> Option<(&'static str, Value)> {
    if kinds != Kinds::INTEGER {
        return None;
    }
    match keyword {
        "exclusiveMinimum" => value.as_i64()?.checked_add(1).map(|bound| ("minimum", json!(bound))),
        "exclusiveMaximum" => value.as_i64()?.checked_sub(1).map(|bound| ("maximum", json!(bound))),
        _ => None,
    }
}

/// Moves the keywords next to alternatives into each alternative, because OpenAPI schemas do not allow both.
fn lean(built: &mut BuiltSchema) {
    let Some(Value::Array(mut branches)) = built.remove("anyOf") else { return };
    let beside = std::mem::take(built);
    for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
        let described = branch.remove("description");
        for (keyword, value) in &beside {
            if keyword != "nullable" {
                branch.entry(keyword.clone()).or_insert_with(|| value.clone());
            }
        }
        append(branch, described.as_ref().and_then(Value::as_str).unwrap_or_default());
    }
    if let Some(first) = branches.first_mut().and_then(Value::as_object_mut) {
        first.extend(beside.get("nullable").map(|flag| ("nullable".to_owned(), flag.clone())));
    }
    built.insert("anyOf".to_owned(), Value::Array(branches));
}
