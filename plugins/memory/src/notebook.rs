//! The notes of this plugin: checks keys, accesses the store, and describes missing keys.

use portcullis_sdk::prelude::*;

use crate::nearest;

/// Maximum length of a key in characters. The host accepts 512 bytes, which is 128 of the longest characters.
pub(crate) const KEY_CHARACTERS_MAX: usize = 128;

/// Maximum number of keys that a message names: enough to recognise a notebook.
const KEYS_SHOWN_MAX: usize = 8;

/// The notes that the policy grants.
pub(crate) struct Notebook {
    store: Store,
}

impl Notebook {
    pub(crate) fn of(context: &Context) -> Result<Self, Failure> {
        Ok(Self { store: context.store("notes")? })
    }

    pub(crate) fn get(&self, key: &str) -> Result<Option<String>, Failure> {
        let value = self.store.get(check(key)?)?;
        Ok(value.map(|value| String::from_utf8_lossy(&value).into_owned()))
    }

    /// Sets a note. Returns whether the key had a note before.
    pub(crate) fn set(&self, key: &str, value: &str) -> Result<bool, Failure> {
        // Another call can change the note in between. That only makes the wording of the answer wrong.
        let existed = self.store.exists(check(key)?)?;
        self.store.set(key, value).map_err(|failure| match failure {
            Failure::Failed(full) => {
                Failure::failed(format!("{full}; delete notes you do not need, or keep a shorter one"))
            }
            other => other,
        })?;
        Ok(existed)
    }

    /// Adds to a note that is a number, and returns the sum. The operation is atomic.
    pub(crate) fn increment(&self, key: &str, by: u64) -> Result<u64, Failure> {
        self.store.increment(check(key)?, by)
    }

    /// Deletes a note. Returns whether it existed.
    pub(crate) fn delete(&self, key: &str) -> Result<bool, Failure> {
        // `delete` does not say whether there was a note.
        let existed = self.store.exists(check(key)?)?;
        self.store.delete(key)?;
        Ok(existed)
    }

    pub(crate) fn keys(&self) -> Result<Vec<String>, Failure> {
        self.store.keys()
    }

    /// Returns the error for a missing key, with suggestions.
    pub(crate) fn missing(&self, key: &str) -> Failure {
        let keys = match self.keys() {
            Ok(keys) => keys,
            Err(failure) => return failure,
        };
        if keys.is_empty() {
            return Failure::failed(format!("there is no note `{key}`; the notebook is empty"));
        }
        let alike = nearest::to(key, &keys, KEYS_SHOWN_MAX);
        if !alike.is_empty() {
            return Failure::failed(format!("there is no note `{key}`; did you mean {}?", quoted(&alike)));
        }
        let first: Vec<&str> = keys.iter().take(KEYS_SHOWN_MAX).map(String::as_str).collect();
        let more = match keys.len() - first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Failure::failed(format!("there is no note `{key}`; existing keys: {}{more}", quoted(&first)))
    }
}

fn quoted(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// Checks a key. It must be one line, so that a list of keys has one line per key.
fn check(key: &str) -> Result<&str, Failure> {
    let characters = key.chars().count();
    if key.trim() != key || key.is_empty() {
        return Err(Failure::invalid("a key must not be empty, and must not begin or end with white space"));
    }
    if characters > KEY_CHARACTERS_MAX {
        let text = format!("a key may have at most {KEY_CHARACTERS_MAX} characters; this one has {characters}");
        return Err(Failure::invalid(text));
    }
    if key.chars().any(char::is_control) {
        return Err(Failure::invalid("a key must be one line without control characters"));
    }
    Ok(key)
}
