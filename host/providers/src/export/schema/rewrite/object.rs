//! Rewrites objects: their properties, which of them are required, and which others are allowed.

use super::gather::{KeywordSource, SchemaPart};
use super::rewriter::{BuiltSchema, FOLLOWED_MAX, Rewriter, Unfit};
use crate::export::schema::kinds::Kinds;
use crate::export::schema::pointer::{below, down};
use crate::export::schema::words::Words;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The members of an object, from every part that applies.
#[derive(Default)]
struct ObjectMembers<'a> {
    named: BTreeMap<&'a str, Vec<SchemaPart<'a>>>,
    required: BTreeSet<&'a str>,
}

/// What applies to members that the schema does not name.
enum Others<'a> {
    /// Nothing. Any others are allowed.
    Unsaid,
    /// No others are allowed.
    None,
    /// Others must match these schemas.
    Some(Vec<SchemaPart<'a>>),
}

impl<'a> ObjectMembers<'a> {
    fn of(sources: &[KeywordSource<'a>]) -> Self {
        let mut members = Self::default();
        for source in sources {
            let named = source.members.get("properties").and_then(Value::as_object);
            for (name, schema) in named.into_iter().flatten() {
                let at = below(&source.at, "properties", name);
                members.named.entry(name).or_default().push(SchemaPart { schema, at });
            }
            let required = source.members.get("required").and_then(Value::as_array);
            members.required.extend(required.into_iter().flatten().filter_map(Value::as_str));
        }
        // A member that one part names is impossible if another, closed part does not name it.
        let closed: Vec<_> = sources.iter().filter(|source| closes(source)).collect();
        let barred = |name: &str| {
            closed.iter().any(|source| source.members.get("properties").is_none_or(|named| named.get(name).is_none()))
        };
        members.named.retain(|name, _| !barred(name));
        members
    }
}

impl<'a> Rewriter<'a, '_> {
    /// Exports the members of an object.
    pub(super) fn object(
        &mut self,
        built: &mut BuiltSchema,
        sources: &[KeywordSource<'a>],
        at: &str,
        depth: usize,
        words: &mut Words,
    ) -> Result<(), Unfit> {
        let mut members = ObjectMembers::of(sources);
        self.check_mentioned(sources, &members)?;
        let others = self.others(sources, words)?;
        let says = |source: &&KeywordSource<'_>| OTHERS.iter().any(|keyword| source.members.contains_key(*keyword));
        let saying = sources.iter().find(says);
        let closed_at = saying.map_or(at, |source| &source.at);
        let closed_by =
            saying.and_then(|source| OTHERS.into_iter().find(|keyword| source.members.contains_key(*keyword)));
        if self.dialect.typed && !matches!(others, Others::None) {
            // A required name without a schema.
            for name in &members.required {
                let any = || vec![SchemaPart { schema: &Value::Bool(true), at: down(at, "required") }];
                members.named.entry(*name).or_insert_with(any);
            }
        }
        let mut properties = Map::new();
        let mut nulled = Vec::new();
        for (name, parts) in &members.named {
            let required = members.required.contains(name);
            let place = parts.first().map(|part| part.at.clone()).unwrap_or_default();
            if !(self.dialect.names)(name, depth == 0) {
                if required {
                    return Err(Unfit::new(&place, "the provider does not accept the name of a required property"));
                }
                self.notes.add(&place, "properties", "left out: the provider does not accept its name");
                continue;
            }
            self.optional += usize::from(!required);
            let property = self.place(parts, depth + 1);
            self.optional -= usize::from(!required);
            match property? {
                Some(mut property) => {
                    if self.dialect.forces_null && !required {
                        nulled.push(*name);
                        self.force_null(&mut property, parts, &place);
                    }
                    properties.insert((*name).to_owned(), Value::Object(property));
                }
                // A closed object cannot have this member anyway.
                None if matches!(others, Others::None) => {}
                None => self.notes.add(&place, "properties", "left out: the export does not forbid it"),
            }
        }
        let required: Vec<&str> = members.required.iter().copied().chain(nulled).collect();
        self.write(built, properties, required);
        self.close(built, others, (closed_at, closed_by.unwrap_or(OTHERS[0])), depth)
    }

    fn write(&mut self, built: &mut BuiltSchema, properties: Map<String, Value>, mut required: Vec<&str>) {
        required.sort_unstable();
        if self.dialect.typed {
            required.retain(|name| properties.contains_key(*name));
        }
        if self.dialect.strict || !required.is_empty() {
            built.insert("required".to_owned(), json!(required));
        }
        if self.dialect.strict || !properties.is_empty() {
            built.insert("properties".to_owned(), Value::Object(properties));
        }
    }

    /// Returns what all parts together require of other members.
    fn others(&mut self, sources: &[KeywordSource<'a>], words: &mut Words) -> Result<Others<'a>, Unfit> {
        let mut some = Vec::new();
        let (mut none, mut patterns) = (false, false);
        for source in sources {
            if let Some(value) = source.members.get("patternProperties") {
                patterns = true;
                let why = "patterns for property names cannot be expressed";
                if self.dialect.strict {
                    return Err(Unfit::new(&source.at, why));
                }
                words.say(&source.at, "patternProperties", value, self.notes);
            }
            for keyword in OTHERS {
                match source.members.get(keyword) {
                    None => {}
                    // If alternatives evaluate more properties, `unevaluatedProperties` does not close the object.
                    Some(Value::Bool(false)) if keyword == "additionalProperties" || !branches(sources) => none = true,
                    Some(schema) if keyword == "additionalProperties" => {
                        some.push(SchemaPart { schema, at: down(&source.at, keyword) });
                    }
                    Some(value) if self.dialect.strict => {
                        let why = format!("{keyword} is {value}, and strict objects are closed");
                        return Err(Unfit::new(&source.at, why.chars().take(120).collect::<String>()));
                    }
                    Some(Value::Bool(true)) => {}
                    Some(value) => words.say(&source.at, keyword, value, self.notes),
                }
            }
        }
        if none && patterns {
            let at = sources.first().map(|source| source.at.clone()).unwrap_or_default();
            self.notes.add(&at, "additionalProperties", "left out: names that match a pattern must stay possible");
            return Ok(Others::Unsaid);
        }
        Ok(match (none, some.is_empty()) {
            (true, _) => Others::None,
            (false, true) => Others::Unsaid,
            (false, false) => Others::Some(some),
        })
    }

    fn close(
        &mut self,
        built: &mut BuiltSchema,
        others: Others<'a>,
        (at, by): (&str, &str),
        depth: usize,
    ) -> Result<(), Unfit> {
        let keyword = "additionalProperties";
        match others {
            Others::None if self.dialect.additional => drop(built.insert(keyword.to_owned(), json!(false))),
            Others::None => self.notes.add(at, by, "left out: the export does not forbid other properties"),
            Others::Unsaid if self.dialect.strict => {
                self.notes.add(at, keyword, "closed: a model cannot write properties that are not named here");
                built.insert(keyword.to_owned(), json!(false));
            }
            Others::Some(parts) if self.dialect.strict => {
                let at = parts.first().map_or(at, |part| &part.at);
                return Err(Unfit::new(at, "it accepts properties of any name, and strict objects are closed"));
            }
            Others::Unsaid => {}
            Others::Some(parts) => {
                let any = parts.iter().all(|part| *part.schema == Value::Bool(true));
                if self.dialect.additional && !any {
                    let built_others = self.place(&parts, depth + 1)?;
                    built.insert(keyword.to_owned(), built_others.map_or(json!(false), Value::Object));
                } else if self.dialect.additional {
                    built.insert(keyword.to_owned(), json!(true));
                } else if !any {
                    self.notes.add(at, keyword, "left out: the export does not restrict other properties");
                }
            }
        }
        Ok(())
    }

    /// Allows null for an optional property. Hydration removes the null again, unless the property permits null itself.
    fn force_null(&mut self, property: &mut BuiltSchema, parts: &[SchemaPart<'a>], at: &str) {
        if parts.iter().all(|part| self.takes_null(part.schema, 0)) {
            self.notes.add(at, "required", "required: null is a valid value, so it does not mean absent");
        }
        let null = json!({ "type": "null" });
        if let Some(Value::Array(branches)) = property.get_mut("anyOf") {
            if !branches.iter().any(is_nullable) {
                branches.push(null);
            }
            return;
        }
        if is_nullable(&Value::Object(property.clone())) {
            return;
        }
        match property.get_mut("type") {
            Some(Value::Array(types)) => types.push(json!("null")),
            Some(kind) => *kind = json!([kind, "null"]),
            None => {
                let described = property.remove("description");
                let whole = std::mem::take(property);
                property.insert("anyOf".to_owned(), Value::Array(vec![Value::Object(whole), null]));
                property.extend(described.map(|text| ("description".to_owned(), text)));
                return;
            }
        }
        if let Some(Value::Array(values)) = property.get_mut("enum") {
            values.push(Value::Null);
        }
    }

    /// Returns whether a schema may accept null, as far as simple checks can tell.
    fn takes_null(&self, schema: &'a Value, followed: usize) -> bool {
        let Value::Object(members) = schema else { return *schema == Value::Bool(true) };
        // This is too deep to tell. A yes only adds a note.
        if followed > FOLLOWED_MAX {
            return true;
        }
        let any = |keyword: &str| match members.get(keyword) {
            Some(Value::Array(all)) => all.iter().any(|one| self.takes_null(one, followed + 1)),
            Some(_) | None => true,
        };
        let every = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
        let referred = members.get("$ref").and_then(|text| self.references.resolve(text));
        members.get("type").is_none_or(|word| Kinds::of_type(word).meets(Kinds::NULL))
            && members.get("const").is_none_or(Value::is_null)
            && members.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&Value::Null))
            && any("anyOf")
            && any("oneOf")
            && every.into_iter().all(|one| self.takes_null(one, followed + 1))
            && referred.is_none_or(|target| self.takes_null(target.schema, followed + 1))
    }

    /// Checks that conditions mention only named members, because a strict object is closed.
    fn check_mentioned(&self, sources: &[KeywordSource<'a>], members: &ObjectMembers<'a>) -> Result<(), Unfit> {
        if !self.dialect.strict {
            return Ok(());
        }
        for source in sources {
            for keyword in CONDITIONAL {
                let Some(value) = source.members.get(keyword) else { continue };
                let mut mentioned = BTreeSet::new();
                self.mentioned(value, 0, &mut mentioned);
                if let Some(name) = mentioned.into_iter().find(|name| !members.named.contains_key(name)) {
                    let shown: String = name.chars().take(80).collect();
                    return Err(Unfit::new(
                        &source.at,
                        format!("{keyword} mentions {shown:?}, which the properties do not name"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Collects the names of members that a condition, or a list or map of conditions, mentions.
    fn mentioned(&self, value: &'a Value, depth: usize, names: &mut BTreeSet<&'a str>) {
        let Value::Object(members) = value else {
            value.as_array().into_iter().flatten().for_each(|one| self.mentioned(one, depth, names));
            return;
        };
        if depth > FOLLOWED_MAX {
            return;
        }
        names.extend(
            members.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str()),
        );
        for keyword in CONDITIONAL.iter().chain(&["allOf", "if"]) {
            members.get(*keyword).into_iter().for_each(|value| self.mentioned(value, depth + 1, names));
        }
        if let Some(target) = members.get("$ref").and_then(|text| self.references.resolve(text)) {
            self.mentioned(target.schema, depth + 1, names);
        }
    }
}

/// Keywords whose subschemas can mention other properties.
const CONDITIONAL: [&str; 5] = ["anyOf", "dependentSchemas", "else", "oneOf", "then"];

/// Keywords for members that the schema does not name.
const OTHERS: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

fn closes(source: &KeywordSource<'_>) -> bool {
    let closed = source.members.get("additionalProperties") == Some(&Value::Bool(false));
    closed && !source.members.contains_key("patternProperties")
}

/// Returns whether subschemas of conditions can evaluate properties.
fn branches(sources: &[KeywordSource<'_>]) -> bool {
    let branching =
        |source: &KeywordSource<'_>| CONDITIONAL.iter().any(|keyword| source.members.contains_key(*keyword));
    sources.iter().any(branching)
}

fn is_nullable(schema: &Value) -> bool {
    match &schema["type"] {
        Value::String(word) => word == "null",
        Value::Array(words) => words.iter().any(|word| word == "null"),
        _ => schema.get("anyOf").and_then(Value::as_array).is_some_and(|branches| branches.iter().any(is_nullable)),
    }
}
