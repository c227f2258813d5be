//! What stands for something that is known only when a case runs: `${http.KEY}` is the address of a server.

use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Puts addresses in the place of their names.
#[derive(Clone, Debug, Default)]
pub(super) struct Fill(Vec<(String, String)>);

impl Fill {
    /// For servers at these addresses.
    pub(super) fn of(servers: &BTreeMap<String, SocketAddr>) -> Self {
        Self(servers.iter().map(|(key, at)| (format!("${{http.{key}}}"), format!("http://{at}"))).collect())
    }

    /// The text with every name replaced.
    pub(super) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, address)| text.replace(name, address))
    }

    /// The value with every name in its texts replaced.
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
}
