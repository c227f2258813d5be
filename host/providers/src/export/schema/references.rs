//! What `$ref` refers to: the schema itself, a place in it, or an anchor.

use super::keywords::children;
use super::pointer::{below, down};
use serde_json::Value;
use std::collections::HashMap;

/// The references of one schema.
#[derive(Debug)]
pub(super) struct References<'a> {
    root: &'a Value,
    /// Where each anchor stands.
    anchors: HashMap<&'a str, String>,
}

/// A schema that is referred to.
#[derive(Clone, Debug)]
pub(super) struct Target<'a> {
    /// The schema.
    pub(super) schema: &'a Value,
    /// Where it stands.
    pub(super) at: String,
}

impl<'a> References<'a> {
    /// Looks for the anchors of a schema.
    pub(super) fn of(root: &'a Value) -> Self {
        let mut anchors = HashMap::new();
        find_anchors(root, "", &mut anchors);
        Self { root, anchors }
    }

    /// The schema itself.
    pub(super) fn root(&self) -> &'a Value {
        self.root
    }

    /// What a reference refers to. Nothing is what no accepted schema has.
    pub(super) fn resolve(&self, reference: &Value) -> Option<Target<'a>> {
        let fragment = decode(reference.as_str()?.strip_prefix('#')?);
        let at = match fragment.is_empty() || fragment.starts_with('/') {
            true => fragment,
            false => self.anchors.get(fragment.as_str())?.clone(),
        };
        Some(Target { schema: self.root.pointer(&at)?, at })
    }
}

fn find_anchors<'a>(schema: &'a Value, at: &str, anchors: &mut HashMap<&'a str, String>) {
    let Value::Object(members) = schema else { return };
    if let Some(anchor) = members.get("$anchor").and_then(Value::as_str) {
        anchors.entry(anchor).or_insert_with(|| at.to_owned());
    }
    for (keyword, name, child) in children(members) {
        let at = name.map_or_else(|| down(at, keyword), |name| below(at, keyword, &name));
        find_anchors(child, &at, anchors);
    }
}

/// Undoes the percent-encoding of a URI fragment, as the host's gate does.
fn decode(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}
