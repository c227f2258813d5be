//! A value in the text of a policy, with its position and its key.
//!
//! A table is parsed with the list of all keys that it may have, so that an unknown key is always an error. This file
//! must not know what any key means.

use toml::de::{DeTable, DeValue};

use crate::error::PolicyFault;
use crate::excerpt::Excerpt;

/// A fault in the text, with its position and key.
#[derive(Debug)]
pub(crate) struct Misplaced {
    /// The byte offset in the text.
    pub(crate) offset: usize,
    /// The full path of the key.
    pub(crate) key: String,
    pub(crate) fault: PolicyFault,
}

/// A value in the text.
#[derive(Debug, Clone)]
pub(super) struct TomlNode<'t> {
    key: String,
    offset: usize,
    value: &'t DeValue<'t>,
}

/// A table that has no unknown keys.
pub(super) struct TomlTable<'n, 't> {
    node: &'n TomlNode<'t>,
    entries: Vec<(&'t str, TomlNode<'t>)>,
}

impl<'t> TomlNode<'t> {
    /// Returns the root of a document.
    pub(super) fn top(value: &'t DeValue<'t>) -> Self {
        Self { key: String::new(), offset: 0, value }
    }

    /// Returns the byte offset of the value in the text.
    pub(super) fn offset(&self) -> usize {
        self.offset
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
        Misplaced { offset: self.offset, key: self.key.clone(), fault: fault.into() }
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
            offset: value.span().start,
            value: value.get_ref(),
        };
        Ok(elements.iter().map(element).collect())
    }

    /// Returns the entries of a table whose keys the policy chooses.
    pub(super) fn entries(&self) -> Result<Vec<(&'t str, Self)>, Misplaced> {
        Ok(self.as_table()?.iter().map(|(key, value)| (key.get_ref().as_ref(), self.child(key, value))).collect())
    }

    /// Returns the value as a table. A key that is not in `known` is an error.
    pub(super) fn table<'n>(&'n self, known: &[&'static str]) -> Result<TomlTable<'n, 't>, Misplaced> {
        let entries = self.entries()?;
        match entries.iter().find(|(key, _)| !known.contains(key)) {
            Some((_, unknown)) => Err(unknown.fail(PolicyFault::UnknownKey { known: known.to_vec() })),
            None => Ok(TomlTable { node: self, entries }),
        }
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
        Self { key: path, offset: key.span().start, value: value.get_ref() }
    }
}

impl<'t> TomlTable<'_, 't> {
    /// Returns the value of `key`, if the table has it.
    pub(super) fn get(&self, key: &str) -> Option<&TomlNode<'t>> {
        self.entries.iter().find(|(name, _)| *name == key).map(|(_, node)| node)
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
