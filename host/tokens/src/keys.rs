//! The key set of an authorization server (RFC 7517, section 5). One bad key does not spoil the others.

use crate::algorithm::Algorithm;
use crate::error::KeyProblem;
use crate::key::{self, VerifyingKey};
use crate::members;
use serde_json::{Map, Value};
use std::fmt;

/// Maximum keys of a set. A server has two or three: the current one, and those before it.
pub const KEYS_MAX: usize = 32;
/// Maximum characters of a key's name in a notice.
const NAME_CHARACTERS_MAX: usize = 64;

/// The keys of a set that can be used, and what an operator should know about the set.
pub struct Keys {
    usable: Vec<VerifyingKey>,
    notices: Vec<KeyNotice>,
}

/// Something about one key that an operator should know. `Display` escapes what the key set wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyNotice {
    /// Where the key is in the set, from 1.
    pub position: usize,
    /// The `kid` of the key, if it has one.
    pub name: Option<String>,
    /// The finding.
    pub about: KeyFinding,
}

/// A finding about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFinding {
    /// The key is not used.
    Skipped(KeyProblem),
    /// The set publishes the private half of the key.
    Private,
}

/// Why a key set cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// The text is not a JSON object with an array `keys`.
    #[error("it is not a JSON Web Key Set")]
    NotAKeySet,
    /// The set has too many keys.
    #[error("it has more than {KEYS_MAX} keys")]
    TooMany,
    /// No key can be used.
    #[error("none of its keys can be used{}", listed(.0))]
    NoUsableKey(Vec<KeyNotice>),
}

fn listed(notices: &[KeyNotice]) -> String {
    notices.iter().map(|notice| format!("; {notice}")).collect()
}

impl Keys {
    /// Reads a key set.
    ///
    /// # Errors
    /// The text is not a key set, or none of its keys can be used.
    pub fn parse(text: &[u8]) -> Result<Self, KeySetError> {
        let set = members::parse_object(text).ok_or(KeySetError::NotAKeySet)?;
        let Some(Value::Array(written)) = set.get("keys") else { return Err(KeySetError::NotAKeySet) };
        // A token without a `kid` is tried with every key, so the number of keys bounds the work for one request.
        if written.len() > KEYS_MAX {
            return Err(KeySetError::TooMany);
        }
        let mut keys = Self { usable: Vec::new(), notices: Vec::new() };
        for (index, key) in written.iter().enumerate() {
            keys.add(index + 1, key);
        }
        if keys.usable.is_empty() { Err(KeySetError::NoUsableKey(keys.notices)) } else { Ok(keys) }
    }

    /// Returns what an operator should know about the set, in the order of the keys.
    pub fn notices(&self) -> &[KeyNotice] {
        &self.notices
    }

    /// Returns whether a key of the set made a signature: the key with that name, or any key if the token names none.
    pub(crate) fn verify(&self, name: Option<&str>, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let named = |key: &&VerifyingKey| name.is_none_or(|name| key.id.as_deref() == Some(name));
        // Several keys of a set may have the same name (RFC 7517, section 4.5).
        self.usable.iter().filter(named).any(|key| key.verify(algorithm, message, signature))
    }

    fn add(&mut self, position: usize, written: &Value) {
        let empty = Map::new();
        let members = written.as_object().unwrap_or(&empty);
        let name = members.get("kid").and_then(Value::as_str).map(str::to_owned);
        if key::is_private(members) {
            self.notices.push(KeyNotice { position, name: name.clone(), about: KeyFinding::Private });
        }
        let read = if written.is_object() { VerifyingKey::read(members) } else { Err(KeyProblem::NotAnObject) };
        match read {
            Ok(key) => self.usable.push(key),
            Err(problem) => self.notices.push(KeyNotice { position, name, about: KeyFinding::Skipped(problem) }),
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.usable.iter().map(|key| &key.id)).finish()
    }
}

impl fmt::Display for KeyNotice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "key {}", self.position)?;
        if let Some(name) = &self.name {
            let shown: String = name.chars().take(NAME_CHARACTERS_MAX).collect();
            write!(formatter, " ({shown:?})")?;
        }
        match self.about {
            KeyFinding::Skipped(problem) => write!(formatter, " is not used: {problem}"),
            KeyFinding::Private => {
                formatter.write_str(" is published with its private half: anyone who can read the file can sign tokens")
            }
        }
    }
}
