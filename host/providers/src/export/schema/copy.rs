//! Copies the authoritative schema. It changes only what a provider would refuse or read differently.

use super::dialect::anthropic_name;
use super::keywords::is_annotation;
use super::pointer::{below, down, reference, tokens};
use super::references::{ReferenceTarget, References};
use super::words::{Words, append};
use super::{EXPORTED_DEPTH_MAX, INLINED_SUBSCHEMAS_MAX};
use crate::definitions::Defined;
use crate::export::notes::Notes;
use portcullis::plugins::schema_parts::{MANY, NAMED, ONE};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

mod draft7;
mod root;

/// The changes that a provider needs.
#[derive(Clone, Copy, Debug)]
pub(in crate::export) struct Touches {
    /// The provider requires `items` for a list and `properties` for the root. Empty ones have the same meaning.
    explicit: bool,
    /// Keywords that the provider refuses at the root.
    root_refuses: &'static [&'static str],
    /// Whether the provider accepts this name of a parameter at the root.
    names: fn(&str) -> bool,
    /// Whether the provider reads the schema as draft-07.
    draft7: bool,
    /// Whether references are replaced with their targets.
    inlines: bool,
}

impl Touches {
    const NONE: Self = Self { explicit: false, root_refuses: &[], names: |_| true, draft7: false, inlines: false };

    /// OpenAI, not strict.
    pub(in crate::export) const OPENAI: Self =
        Self { explicit: true, root_refuses: &["allOf", "anyOf", "enum", "not", "oneOf"], ..Self::NONE };

    /// Anthropic, not strict.
    pub(in crate::export) const ANTHROPIC: Self =
        Self { root_refuses: &["allOf", "anyOf", "oneOf"], names: |name| anthropic_name(name, true), ..Self::NONE };

    /// LangChain. It reads a property named `$ref` as a reference and fails. It replaces every reference itself,
    /// exponentially many for a hostile schema. It passes a root on that most providers refuse.
    pub(in crate::export) const LANGCHAIN: Self = Self { names: |name| name != "$ref", ..Self::INLINED };

    /// Mistral.
    pub(in crate::export) const MISTRAL: Self = Self { draft7: true, ..Self::NONE };

    /// Ollama, before the schema is flattened.
    pub(super) const INLINED: Self = Self { root_refuses: &["allOf", "anyOf", "oneOf"], inlines: true, ..Self::NONE };
}

/// Returns the copy of a tool's schema, or none if the provider does not accept a required argument.
pub(in crate::export) fn copied(tool: &Defined, touches: Touches, notes: &mut Notes) -> Option<Value> {
    let mut copier = Copier::new(tool.offer.tool.schema().document(), touches, notes);
    copier.whole().map(Value::Object)
}

/// Copies one schema.
pub(super) struct Copier<'a, 'b> {
    references: References<'a>,
    touches: Touches,
    notes: &'b mut Notes,
    /// Referenced schemas whose place is missing in the copy: their places in the original, and their names in `$defs`.
    moved: BTreeMap<String, String>,
    waiting: Vec<(String, ReferenceTarget<'a>)>,
    /// The references that are being replaced, from the outermost.
    within: Vec<String>,
    inlined: usize,
    /// The places of the root's properties that come from its parts.
    pub(super) adopted: BTreeMap<String, String>,
}

impl<'a, 'b> Copier<'a, 'b> {
    pub(super) fn new(schema: &'a Value, touches: Touches, notes: &'b mut Notes) -> Self {
        let references = References::of(schema);
        let (moved, waiting, within, adopted) = (BTreeMap::new(), Vec::new(), Vec::new(), BTreeMap::new());
        Self { references, touches, notes, moved, waiting, within, inlined: 0, adopted }
    }

    fn schema(&mut self, schema: &'a Value, at: &str, depth: usize) -> Value {
        let Value::Object(members) = schema else { return schema.clone() };
        self.inlined += usize::from(!self.within.is_empty());
        Value::Object(self.object(members, at, depth))
    }

    fn object(&mut self, members: &'a Map<String, Value>, at: &str, depth: usize) -> Map<String, Value> {
        let mut copy = Map::new();
        let mut loosened = Vec::new();
        for (keyword, value) in members {
            match keyword.as_str() {
                // In the copy, all references are pointers, and there is only one dialect.
                "$anchor" | "$id" | "$schema" | "$ref" => {}
                // Without references, nothing uses them. The root below itself uses those of the whole schema.
                "$defs" | "definitions" if self.touches.inlines || (at.is_empty() && depth > 0) => {}
                _ => {
                    let before = self.notes.added();
                    let said = self.value(keyword, value, &down(at, keyword), depth);
                    if self.notes.added() > before && BARRING.contains(&keyword.as_str()) {
                        loosened.push(keyword.as_str());
                    }
                    copy.insert(keyword.clone(), said);
                }
            }
        }
        self.unbar(&mut copy, &loosened, members, at);
        if self.touches.draft7 {
            draft7::touch(&mut copy, at, self.notes);
        }
        let is_list =
            |kind: &Value| kind == "array" || kind.as_array().is_some_and(|all| all.contains(&json!("array")));
        if self.touches.explicit && copy.get("type").is_some_and(is_list) {
            self.explicit_items(&mut copy, members, at);
        }
        match members.get("$ref") {
            // The root is merged from its parts.
            Some(_) if self.touches.inlines && at.is_empty() => copy,
            Some(text) => self.referring(copy, text, at, depth),
            None => copy,
        }
    }

    /// Removes keywords that would now refuse more than before, because the copy of their subschemas is more
    /// permissive.
    fn unbar(&mut self, copy: &mut Map<String, Value>, loosened: &[&str], members: &Map<String, Value>, at: &str) {
        let mut words = Words::default();
        for keyword in loosened {
            let said = copy.remove(*keyword);
            match said.filter(|_| *keyword == "oneOf" && !copy.contains_key("anyOf")) {
                Some(said) => {
                    copy.insert("anyOf".to_owned(), said);
                    self.notes.add(at, keyword, "exported as anyOf: more than one alternative may match");
                }
                None => words.say(at, keyword, &members[*keyword], self.notes),
            }
        }
        words.write(copy);
        if loosened.contains(&"if") {
            for keyword in ["then", "else"] {
                if copy.remove(keyword).is_some() {
                    self.notes.add(at, keyword, "left out: its condition was left out");
                }
            }
        }
    }

    /// Adds `items` to a list that has none. `unevaluatedItems` becomes `items` if no other keyword evaluates items,
    /// because it then means the same.
    fn explicit_items(&mut self, copy: &mut Map<String, Value>, members: &Map<String, Value>, at: &str) {
        if copy.contains_key("items") {
            return;
        }
        let items = match copy.remove("unevaluatedItems") {
            None => json!({}),
            Some(others) if !SPEAKING.iter().any(|keyword| members.contains_key(*keyword)) => others,
            Some(_) => {
                self.notes.add(at, "unevaluatedItems", "left out: the provider requires items instead");
                json!({})
            }
        };
        copy.insert("items".to_owned(), items);
    }

    /// Copies the value of a keyword.
    fn value(&mut self, keyword: &str, value: &'a Value, at: &str, depth: usize) -> Value {
        match value {
            _ if ONE.contains(&keyword) => self.schema(value, at, depth + 1),
            Value::Array(items) if MANY.contains(&keyword) => {
                let copy = |(place, item)| self.schema(item, &down(at, &format!("{place}")), depth + 1);
                Value::Array(items.iter().enumerate().map(copy).collect())
            }
            Value::Object(named) if NAMED.contains(&keyword) => {
                let copy = |(name, item): (&'a String, &'a Value)| {
                    (name.clone(), self.schema(item, &down(at, name), depth + 1))
                };
                Value::Object(named.iter().map(copy).collect())
            }
            _ => value.clone(),
        }
    }

    /// Adds the reference to the copy of a schema.
    fn referring(&mut self, mut copy: Map<String, Value>, text: &Value, at: &str, depth: usize) -> Map<String, Value> {
        let Some(target) = self.references.resolve(text) else {
            self.notes.add(at, "$ref", "left out: the reference has no target");
            return copy;
        };
        if self.touches.inlines {
            return self.inlined(copy, &target, at, depth);
        }
        let name = Value::String(self.name(target));
        let siblings = copy.keys().any(|keyword| !matches!(keyword.as_str(), "$defs" | "definitions"));
        if self.touches.draft7 && siblings {
            // Draft-07 ignores keywords next to a reference. In a list of one schema, the reference means the same.
            conjoin(&mut copy, json!({ "$ref": name }));
        } else {
            copy.insert("$ref".to_owned(), name);
        }
        copy
    }

    /// Returns the reference to a schema in the copy. A schema whose place is missing or changed in the copy gets a new
    /// definition.
    fn name(&mut self, target: ReferenceTarget<'a>) -> String {
        if self.stays(&target.at) {
            return reference(&target.at);
        }
        if let Some(name) = self.moved.get(&target.at) {
            return reference(&below("", "$defs", name));
        }
        let taken = |name: &String| self.references.root().pointer(&below("", "$defs", name)).is_some();
        let number = self.moved.len() + 1;
        let mut name = format!("moved-{number}");
        while taken(&name) {
            name.push('-');
        }
        self.moved.insert(target.at.clone(), name.clone());
        let text = reference(&below("", "$defs", &name));
        self.waiting.push((name, target));
        text
    }

    /// Returns whether a place of the original is the same in the copy: the root, and definitions and properties.
    fn stays(&self, at: &str) -> bool {
        let tokens: Vec<String> = tokens(at).collect();
        let plain =
            |pair: &[String]| pair.len() == 2 && matches!(pair[0].as_str(), "$defs" | "definitions" | "properties");
        let taken = |pair: &[String]| pair[0] != "properties" || (self.touches.names)(&pair[1]);
        // The root of the copy is more permissive if a part of it was refused.
        let refused = |keyword: &&str| self.references.root().get(*keyword).is_some();
        let whole = !tokens.is_empty() || !self.touches.root_refuses.iter().any(refused);
        // Not every provider decodes percent encoding or the escapes of pointers.
        let plain_text = reference(at).len() == at.len() + 1 && !at.contains('~');
        whole && plain_text && tokens.chunks(2).all(plain) && tokens.chunks(2).next().is_none_or(taken)
    }

    /// Replaces a reference with its target, merged with the keywords next to the reference.
    fn inlined(
        &mut self,
        mut copy: Map<String, Value>,
        target: &ReferenceTarget<'a>,
        at: &str,
        depth: usize,
    ) -> Map<String, Value> {
        let endless = self.within.contains(&target.at) || target.at.is_empty();
        if endless || depth >= EXPORTED_DEPTH_MAX || self.inlined >= INLINED_SUBSCHEMAS_MAX {
            let why = if endless { "the reference is recursive" } else { "the schema would become too large" };
            self.notes.add(at, "$ref", format!("any value: {why}"));
            return copy;
        }
        self.within.push(target.at.clone());
        let inlined = self.schema(target.schema, &target.at, depth + 1);
        self.within.pop();
        match inlined {
            Value::Object(mut inlined) if copy.keys().all(|keyword| is_annotation(keyword)) => {
                // The description at the reference is specific to this use, so it comes first.
                let described = inlined.remove("description");
                inlined.extend(copy);
                append(&mut inlined, described.as_ref().and_then(Value::as_str).unwrap_or_default());
                inlined
            }
            // A schema that accepts any value adds nothing.
            Value::Bool(true) => copy,
            inlined => {
                conjoin(&mut copy, inlined);
                copy
            }
        }
    }
}

/// Keywords that refuse more if their subschemas become more permissive.
const BARRING: [&str; 3] = ["if", "not", "oneOf"];

/// Keywords that can evaluate single items of a list indirectly.
const SPEAKING: [&str; 8] = ["$ref", "allOf", "anyOf", "contains", "dependentSchemas", "if", "not", "oneOf"];

/// Adds a schema that must match as well.
fn conjoin(members: &mut Map<String, Value>, also: Value) {
    let all = members.entry("allOf").or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.push(also);
    }
}
