//! Placeholders for values that are known only when a case runs: `${http.KEY}` is the address of a server.

use super::case::Http;
use super::compare::quoted;
use anyhow::ensure;
use portcullis::policy::DependencyKey;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The beginning and the end of a placeholder, around its key.
const OPENING: &str = "${http.";
const CLOSING: char = '}';

/// Replaces placeholders with addresses.
#[derive(Debug)]
pub(super) struct Fill(Vec<(String, String)>);

impl Fill {
    /// Creates the replacements for servers at these addresses.
    pub(super) fn of(servers: &BTreeMap<DependencyKey, SocketAddr>) -> Self {
        Self(servers.iter().map(|(key, at)| (format!("{OPENING}{key}{CLOSING}"), format!("http://{at}"))).collect())
    }

    /// Returns the value with all placeholders in its strings replaced.
    pub(super) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), self.value(value))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn text(&self, text: &str) -> String {
        // No address contains a placeholder, so the order of the replacements does not matter.
        self.0.iter().fold(text.to_owned(), |text, (name, address)| text.replace(name, address))
    }
}

/// Returns whether the text of a file may have placeholders. JSON may spell any of their characters as an escape.
pub(super) fn is_likely(text: &str) -> bool {
    text.contains(OPENING) || text.contains("\\u")
}

/// Returns whether a case has placeholders.
///
/// # Errors
/// A placeholder names a server that the case does not have.
pub(super) fn is_needed(case: &Value, servers: &BTreeMap<DependencyKey, Http>) -> anyhow::Result<bool> {
    match case {
        Value::String(text) => {
            for name in text.split(OPENING).skip(1) {
                let key = name.split_once(CLOSING).map(|(key, _)| key);
                let known = key.is_some_and(|key| servers.keys().any(|server| server.as_str() == key));
                ensure!(known, "{} does not name a server of the case", quoted(&format!("{OPENING}{name}")));
            }
            Ok(text.contains(OPENING))
        }
        Value::Array(items) => is_any_needed(items.iter(), servers),
        Value::Object(members) => is_any_needed(members.values(), servers),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(false),
    }
}

fn is_any_needed<'a>(
    mut values: impl Iterator<Item = &'a Value>,
    servers: &BTreeMap<DependencyKey, Http>,
) -> anyhow::Result<bool> {
    values.try_fold(false, |any, value| Ok(is_needed(value, servers)? || any))
}
