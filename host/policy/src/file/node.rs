//! A value in the text of a policy, with its position and its key.
//!
//! A table is parsed with the list of all keys that it may have, so that an unknown key is always an error. This file
//! must not know what any key means.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::faults::{FaultLog, Misplaced};
use crate::error::PolicyFault;
use crate::excerpt::Excerpt;

/// A value in the text.
#[derive(Debug, Clone)]
pub(super) struct TomlNode<'t> {
    key: String,
    /// The bytes of the key. For an element of a list, those of the value.
    key_span: Range<usize>,
    span: Range<usize>,
    value: &'t DeValue<'t>,
    faults: &'t FaultLog,
}

/// A table whose unknown keys were noted.
pub(super) struct TomlTable<'n, 't> {
    node: &'n TomlNode<'t>,
    entries: Vec<(&'t str, TomlNode<'t>)>,
    /// Whether it has only known keys.
    complete: bool,
}

impl<'t> TomlNode<'t> {
    /// Returns the root of a document.
    pub(super) fn top(value: &'t DeValue<'t>, faults: &'t FaultLog) -> Self {
        Self { key: String::new(), key_span: 0..0, span: 0..0, value, faults }
    }

    /// Returns the byte offset of the value in the text.
    pub(super) fn offset(&self) -> usize {
        self.key_span.start
    }

    /// Returns the full path of the key.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Returns the parsed TOML value.
    pub(super) fn value(&self) -> &'t DeValue<'t> {
        self.value
    }

    /// Returns `fault` with the position of this value.
    pub(super) fn fail(&self, fault: impl Into<PolicyFault>) -> Misplaced {
        Misplaced { offset: self.key_span.start, span: self.span.clone(), key: self.key.clone(), fault: fault.into() }
    }

    /// Notes a fault and goes on, or returns the value.
    pub(super) fn keep<T>(&self, result: Result<T, Misplaced>) -> Option<T> {
        self.faults.keep(result)
    }

    /// Reads several nodes, notes their faults, and returns the values of the others.
    pub(super) fn each<T>(&self, nodes: &[Self], read: impl Fn(&Self) -> Result<T, Misplaced>) -> Vec<T> {
        nodes.iter().filter_map(|node| self.keep(read(node))).collect()
    }

    /// Returns the position of the value.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    fn wrong_type(&self, wanted: &'static str) -> Misplaced {
        self.fail(PolicyFault::WrongType { wanted })
    }

    /// Returns the value as a string.
    pub(super) fn text(&self) -> Result<&'t str, Misplaced> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _other_type => Err(self.wrong_type("a string in quotes")),
        }
    }

    /// Returns the value as a boolean.
    pub(super) fn boolean(&self) -> Result<bool, Misplaced> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _other_type => Err(self.wrong_type("`true` or `false`")),
        }
    }

    /// Returns the value as one of the words in `known`.
    pub(super) fn word<T: Copy>(&self, known: &[T], spell: impl Fn(T) -> &'static str) -> Result<T, Misplaced> {
        let text = self.text()?;
        let meant = known.iter().find(|word| spell(**word) == text);
        let words = || known.iter().map(|word| spell(*word)).collect();
        meant.copied().ok_or_else(|| self.fail(PolicyFault::Word { known: words() }))
    }

    /// Returns the elements of a non-empty list, or the value itself if it is not a list.
    pub(super) fn one_or_more(&self) -> Result<Vec<Self>, Misplaced> {
        match self.value {
            DeValue::Array(_) => self.list(),
            _one => Ok(vec![self.clone()]),
        }
    }

    /// Returns the elements of the value, which must be a non-empty list.
    pub(super) fn list(&self) -> Result<Vec<Self>, Misplaced> {
        let DeValue::Array(elements) = self.value else {
            return Err(self.wrong_type("an array: `[...]`, or `[[rule]]` for rules"));
        };
        if elements.is_empty() {
            return Err(self.fail(PolicyFault::Empty));
        }
        let element = |value: &'t toml::Spanned<DeValue<'t>>| Self {
            key: self.key.clone(),
            key_span: value.span(),
            span: value.span(),
            value: value.get_ref(),
            faults: self.faults,
        };
        Ok(elements.iter().map(element).collect())
    }

    /// Returns the elements of a list that is neither empty nor too long.
    pub(super) fn list_of_at_most(&self, most: usize) -> Result<Vec<Self>, Misplaced> {
        let elements = self.list()?;
        if elements.len() > most { Err(self.fail(PolicyFault::TooMany { most })) } else { Ok(elements) }
    }

    /// Returns the entries of a table whose keys the policy chooses.
    pub(super) fn entries(&self) -> Result<Vec<(&'t str, Self)>, Misplaced> {
        Ok(self.as_table()?.iter().map(|(key, value)| (key.get_ref().as_ref(), self.child(key, value))).collect())
    }

    /// Returns the value as a table. Notes every key that is not in `known`.
    pub(super) fn table<'n>(&'n self, known: &[&'static str]) -> Result<TomlTable<'n, 't>, Misplaced> {
        let entries = self.entries()?;
        let unknown: Vec<Misplaced> = self.unknown(&entries, known).collect();
        let complete = unknown.is_empty();
        unknown.into_iter().for_each(|fault| self.faults.add(fault));
        Ok(TomlTable { node: self, entries, complete })
    }

    /// Returns the value as a table whose keys depend on each other. Notes every unknown key but the last, which is the
    /// error: what the other keys mean without it is a guess.
    pub(super) fn closed_table<'n>(&'n self, known: &[&'static str]) -> Result<TomlTable<'n, 't>, Misplaced> {
        let entries = self.entries()?;
        let mut unknown: Vec<Misplaced> = self.unknown(&entries, known).collect();
        match unknown.pop() {
            Some(last) => {
                unknown.into_iter().for_each(|fault| self.faults.add(fault));
                Err(last)
            }
            None => Ok(TomlTable { node: self, entries, complete: true }),
        }
    }

    fn unknown<'e>(
        &self,
        entries: &'e [(&'t str, Self)],
        known: &'e [&'static str],
    ) -> impl Iterator<Item = Misplaced> + use<'e, 't> {
        entries.iter().filter(|(key, _)| !known.contains(key)).map(|(_, unknown)| {
            let fault = unknown.fail(PolicyFault::UnknownKey { known: known.to_vec() });
            // The suggestion compares the text of this span, so it must be that of the key.
            Misplaced { span: unknown.key_span.clone(), ..fault }
        })
    }

    fn as_table(&self) -> Result<&'t DeTable<'t>, Misplaced> {
        match self.value {
            DeValue::Table(table) => Ok(table),
            _other_type => Err(self.wrong_type("a table")),
        }
    }

    fn child(&self, key: &toml::Spanned<std::borrow::Cow<'_, str>>, value: &'t toml::Spanned<DeValue<'t>>) -> Self {
        let name = bare_or_escaped(key.get_ref());
        let path = if self.key.is_empty() { name } else { format!("{}.{name}", self.key) };
        Self { key: path, key_span: key.span(), span: value.span(), value: value.get_ref(), faults: self.faults }
    }
}

impl<'t> TomlTable<'_, 't> {
    /// Returns the value of `key`, if the table has it.
    pub(super) fn get(&self, key: &str) -> Option<&TomlNode<'t>> {
        self.entries.iter().find(|(name, _)| *name == key).map(|(_, node)| node)
    }

    /// Reads the value of `key`, if the table has it. Notes its fault.
    pub(super) fn read<T>(&self, key: &str, read: impl FnOnce(&TomlNode<'t>) -> Result<T, Misplaced>) -> Option<T> {
        self.node.keep(read(self.get(key)?))
    }

    /// Reads the value of `key`. Notes its fault, also if the key is missing.
    pub(super) fn need<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&TomlNode<'t>) -> Result<T, Misplaced>,
    ) -> Option<T> {
        // The unknown keys were noted already.
        if self.is_misspelt(key) { None } else { self.node.keep(self.require(key).and_then(read)) }
    }

    /// Returns whether `key` is missing beside unknown keys, one of which is probably meant.
    pub(super) fn is_misspelt(&self, key: &str) -> bool {
        !self.complete && self.get(key).is_none()
    }

    /// Returns the value of `key`. A missing key is an error.
    pub(super) fn require(&self, key: &'static str) -> Result<&TomlNode<'t>, Misplaced> {
        self.get(key).ok_or_else(|| self.node.fail(PolicyFault::MissingKey { name: key }))
    }
}

/// Returns a key as messages show it.
fn bare_or_escaped(key: &str) -> String {
    let bare = !key.is_empty()
        && key.len() <= 64
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if bare { key.to_owned() } else { Excerpt::of(key).to_string() }
}
