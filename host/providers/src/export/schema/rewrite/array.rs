//! Rewrites lists and their items.

use super::gather::{KeywordSource, SchemaPart};
use super::rewriter::{BuiltSchema, Rewriter, Unfit};
use crate::export::schema::pointer::{below, down};
use crate::export::schema::words::Words;
use serde_json::{Value, json};

impl<'a> Rewriter<'a, '_> {
    /// Exports the items of a list.
    pub(super) fn array(
        &mut self,
        built: &mut BuiltSchema,
        sources: &[KeywordSource<'a>],
        at: &str,
        depth: usize,
        words: &mut Words,
    ) -> Result<(), Unfit> {
        let with_prefix = sources.iter().find(|source| source.members.contains_key("prefixItems"));
        let prefix = with_prefix.and_then(|source| source.members["prefixItems"].as_array().map(|list| (source, list)));
        let mut items = Vec::new();
        for source in sources {
            if let Some(schema) = source.members.get("items") {
                items.push(SchemaPart { schema, at: down(&source.at, "items") });
            }
            // Only one list can be exported for a place. The others move to the description.
            let second = with_prefix.is_some_and(|first| first.at != source.at);
            if let Some(value) = source.members.get("prefixItems").filter(|_| second) {
                words.say(&source.at, "prefixItems", value, self.notes);
            }
        }
        match prefix {
            Some((source, list)) => self.tuple(built, source, list, &items, depth, words),
            None if items.is_empty() => self.unsaid(built, at),
            None => match self.place(&items, depth + 1)? {
                Some(items) => {
                    built.insert("items".to_owned(), Value::Object(items));
                    Ok(())
                }
                None => {
                    // If no value matches the items, the list must be empty.
                    self.at_most(built, 0, at, "items", words);
                    self.unsaid(built, at)
                }
            },
        }
    }

    /// Exports a list of anything.
    fn unsaid(&mut self, built: &mut BuiltSchema, at: &str) -> Result<(), Unfit> {
        if self.dialect.typed {
            let any = self.any(at, "it is a list of anything")?;
            built.insert("items".to_owned(), Value::Object(any));
        }
        Ok(())
    }

    /// Exports a list with `prefixItems`.
    fn tuple(
        &mut self,
        built: &mut BuiltSchema,
        source: &KeywordSource<'a>,
        list: &'a [Value],
        items: &[SchemaPart<'a>],
        depth: usize,
        words: &mut Words,
    ) -> Result<(), Unfit> {
        let mut places = Vec::new();
        let mut taken = list.len();
        for (place, schema) in list.iter().enumerate() {
            let at = below(&source.at, "prefixItems", &place.to_string());
            match self.place(&[SchemaPart { schema, at }], depth + 1)? {
                Some(built) => places.push(Value::Object(built)),
                // The list must end before an item that no value matches.
                None => {
                    taken = taken.min(place);
                    break;
                }
            }
        }
        let ends = taken < list.len();
        let rest = if items.is_empty() || ends { None } else { Some(self.place(items, depth + 1)?) };
        if ends || rest == Some(None) {
            self.at_most(built, taken, &source.at, "items", words);
        }
        let rest = rest.flatten().map(Value::Object);
        if self.dialect.prefix_items {
            built.insert("prefixItems".to_owned(), Value::Array(places));
            built.extend(rest.map(|rest| ("items".to_owned(), rest)));
            return Ok(());
        }
        self.notes.add(&source.at, "prefixItems", "exported as items: every item may match any of the schemas");
        places.extend(rest);
        if places.is_empty() {
            return self.unsaid(built, &source.at);
        }
        built.insert("items".to_owned(), json!({ "anyOf": places }));
        Ok(())
    }

    /// Limits the number of items, or moves the limit to the description.
    fn at_most(&mut self, built: &mut BuiltSchema, most: usize, at: &str, keyword: &str, words: &mut Words) {
        let given = built.get("maxItems").and_then(Value::as_u64);
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        let most = json!(given.map_or(most, |given| given.min(most)));
        if (self.dialect.keeps)("maxItems", &most) {
            built.insert("maxItems".to_owned(), most);
        } else {
            words.say(at, "maxItems", &most, self.notes);
            self.notes.add(at, keyword, "that no other items are allowed is in the description");
        }
    }
}
