//! Rewrites alternatives.

use super::gather::{KeywordSource, SchemaPart};
use super::nullable::allow_null;
use super::rewriter::{BuiltSchema, FOLLOWED_MAX, Rewriter, Unfit};
use crate::export::schema::dialect::Types;
use crate::export::schema::kinds::Kinds;
use crate::export::schema::pointer::below;
use serde_json::{Map, Value, json};

/// Maximum alternatives that are compared pairwise.
const COMPARED_MAX: usize = 32;

/// One list of alternatives.
pub(super) struct Alternatives<'a> {
    /// `anyOf` or `oneOf`.
    pub(super) keyword: &'static str,
    pub(super) value: &'a Value,
    branches: &'a [Value],
    /// The place of the schema that contains them.
    pub(super) at: String,
}

impl<'a> Alternatives<'a> {
    /// Returns all lists of alternatives that apply at a place.
    pub(super) fn of(sources: &[KeywordSource<'a>]) -> Vec<Self> {
        let mut found = Vec::new();
        for source in sources {
            for keyword in ["anyOf", "oneOf"] {
                if let Some(value @ Value::Array(branches)) = source.members.get(keyword) {
                    found.push(Self { keyword, value, branches, at: source.at.clone() });
                }
            }
        }
        found
    }
}

impl<'a> Rewriter<'a, '_> {
    /// Exports alternatives for values of these kinds. Returns none if no value could match.
    pub(super) fn union(
        &mut self,
        alternatives: &Alternatives<'a>,
        kinds: Kinds,
        depth: usize,
    ) -> Result<Option<BuiltSchema>, Unfit> {
        let mut branches = Vec::new();
        let mut null = false;
        for (place, schema) in alternatives.branches.iter().enumerate() {
            let at = below(&alternatives.at, alternatives.keyword, &place.to_string());
            let Some(branch) = self.limited(&[SchemaPart { schema, at }], kinds, depth + 1)? else { continue };
            let is_null = branch.len() == 1 && branch.get("type") == Some(&json!("null"));
            match is_null && self.dialect.types == Types::Nullable {
                true => null = true,
                false => branches.push(Value::Object(branch)),
            }
        }
        let keyword = self.keyword(alternatives);
        let mut built = match branches.as_mut_slice() {
            [] if null => return Ok(Some(Map::from_iter([("type".to_owned(), json!("null"))]))),
            [] => return Ok(None),
            // A reference stays in the list, because a description may be added beside it.
            [Value::Object(one)] if !one.contains_key("$ref") => std::mem::take(one),
            _ => Map::from_iter([(keyword.to_owned(), Value::Array(branches))]),
        };
        if null {
            allow_null(&mut built);
        }
        Ok(Some(built))
    }

    /// Returns the keyword for the export. Dialects lack `oneOf` or treat it as `anyOf`, which means the same if no
    /// value matches two alternatives.
    fn keyword(&mut self, alternatives: &Alternatives<'a>) -> &'static str {
        if alternatives.keyword == "anyOf" {
            return alternatives.keyword;
        }
        let branches: Vec<&'a Value> = alternatives.branches.iter().map(|branch| self.followed(branch)).collect();
        let apart = |(place, branch): (usize, &&'a Value)| {
            branches[place + 1..].iter().all(|other| self.are_apart(branch, other))
        };
        if branches.len() > COMPARED_MAX || !branches.iter().enumerate().all(apart) {
            self.notes.add(&alternatives.at, "oneOf", "exported as anyOf: more than one alternative may match");
        }
        "anyOf"
    }

    /// Follows the references of a schema.
    fn followed(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..FOLLOWED_MAX {
            match schema.get("$ref").and_then(|text| self.references.resolve(text)) {
                Some(target) => schema = target.schema,
                None => break,
            }
        }
        schema
    }

    /// Returns whether certainly no value matches both schemas.
    fn are_apart(&self, one: &'a Value, other: &'a Value) -> bool {
        if !kinds(one).meets(kinds(other)) || no_value_in_both(one, other) {
            return true;
        }
        if kinds(one) != Kinds::OBJECT || kinds(other) != Kinds::OBJECT {
            return false;
        }
        let Some(Value::Object(named)) = one.get("properties") else { return false };
        named.iter().any(|(name, property)| {
            let same = other.get("properties").and_then(|properties| properties.get(name));
            same.is_some_and(|same| {
                let apart = no_value_in_both(self.followed(property), self.followed(same));
                apart && requires(one, name) && requires(other, name)
            })
        })
    }
}

fn kinds(schema: &Value) -> Kinds {
    let typed = schema.get("type").map_or(Kinds::ALL, Kinds::of_type);
    let listed = values(schema);
    listed.map_or(typed, |values| values.iter().fold(Kinds::NONE, |set, value| set.or(Kinds::of_value(value))))
}

fn values(schema: &Value) -> Option<&[Value]> {
    let one = schema.get("const").map(std::slice::from_ref);
    one.or_else(|| schema.get("enum").and_then(Value::as_array).map(Vec::as_slice))
}

fn no_value_in_both(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (values(one), values(other)) else { return false };
    !one.iter().any(|value| other.contains(value))
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|known| known == name))
}
