//! Rewrites lists of values.

use super::gather::KeywordSource;
use super::rewriter::{BuiltSchema, Rewriter, Unfit};
use crate::export::schema::dialect::EnumStyle;
use crate::export::schema::kinds::Kinds;
use crate::export::schema::words::Words;
use serde_json::{Value, json};

impl<'a> Rewriter<'a, '_> {
    /// Exports the listed values of some kinds. A list of one value means the same as `const`.
    pub(super) fn values(
        &mut self,
        built: &mut BuiltSchema,
        sources: &[KeywordSource<'a>],
        values: &[&'a Value],
        kinds: Kinds,
        words: &mut Words,
    ) -> Result<(), Unfit> {
        let fitting: Vec<&Value> = values.iter().copied().filter(|value| kinds.meets(Kinds::of_value(value))).collect();
        let booleans = fitting.len() == 2 && kinds == Kinds::BOOLEAN;
        if kinds == Kinds::NULL || booleans {
            // The type means the same.
            return Ok(());
        }
        if self.dialect.values.takes(kinds) {
            let constant = sources.iter().any(|source| source.members.contains_key("const"));
            match (self.dialect.values, fitting.as_slice()) {
                (EnumStyle::Untyped, [one]) if constant => {
                    built.remove("type");
                    built.insert("const".to_owned(), (*one).clone());
                }
                (how, _) => {
                    if how == EnumStyle::Untyped {
                        built.remove("type");
                    }
                    built.insert("enum".to_owned(), json!(fitting));
                }
            }
            return Ok(());
        }
        for source in sources {
            for keyword in ["const", "enum"] {
                let Some(value) = source.members.get(keyword) else { continue };
                if self.dialect.strict {
                    return Err(Unfit::new(&source.at, "a list or an object cannot be one of the listed values"));
                }
                words.say(&source.at, keyword, value, self.notes);
            }
        }
        Ok(())
    }
}
