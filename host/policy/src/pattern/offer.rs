//! The patterns that the host offers to the approver.
//!
//! No offer is wider than the top directory of the path, or the scheme, host and port of the URL, of the call. Apart
//! from that argument, only arguments with content can vary. This file must not know how an approver is asked.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Pattern;
use super::argument_names::{RESOURCES, URLS};
use super::constraint::{Constraint, is_nameable, is_path, parent};
use super::limits::{OFFERS_MAX, PATTERN_ARGUMENTS};
use super::url_scope::UrlScope;
use crate::argument::ARGUMENT_KEY_BYTES;
use crate::destination::Destination;
use crate::glob::Glob;

/// Names of arguments with content that a call writes or sends.
const PAYLOADS: [&str; 14] = [
    "body",
    "content",
    "contents",
    "data",
    "diff",
    "new",
    "new_string",
    "new_text",
    "old",
    "old_string",
    "old_text",
    "patch",
    "replacement",
    "text",
];

impl Pattern {
    /// Returns the patterns to offer for a call with these arguments, from narrow to wide, without the exact call.
    /// There are none if no argument names a path or a URL, or if another argument is a list, an object or a long text.
    pub fn offers(arguments: &Map<String, Value>, schema: &Value) -> Vec<Self> {
        offers(arguments, schema)
    }
}

fn offers(arguments: &Map<String, Value>, schema: &Value) -> Vec<Pattern> {
    let mut offers = Vec::new();
    // URLs come first, so that the limit never drops the host.
    for resource in url(arguments, schema).into_iter().chain(path(arguments)) {
        for offer in resource.offers(arguments, schema) {
            // If a call has a path and a URL, both produce the same two offers with any content.
            if !offers.contains(&offer) {
                offers.push(offer);
            }
        }
    }
    offers.truncate(OFFERS_MAX);
    offers
}

/// An argument that may vary.
struct VaryingArgument<'a> {
    name: &'a str,
    value: &'a Value,
    /// The wider constraints that it may have, from narrow to wide.
    wider: Vec<Constraint>,
}

impl VaryingArgument<'_> {
    fn offers(self, arguments: &Map<String, Value>, schema: &Value) -> Vec<Pattern> {
        let Some(others) = others(arguments, self.name, schema) else { return Vec::new() };
        let has_payload = others.values().any(|constraint| *constraint == Constraint::Any);
        // Without content that may differ, this would be the exact call, which every request offers.
        let same = exact(self.value).filter(|_| has_payload);
        let offer = |constraint| {
            let mut arguments = others.clone();
            arguments.insert(self.name.to_owned(), constraint);
            Pattern { arguments }
        };
        same.into_iter().chain(self.wider).map(offer).collect()
    }
}

/// Returns the first argument that is named like a path and is a readable path.
fn path(arguments: &Map<String, Value>) -> Option<VaryingArgument<'_>> {
    let path = |name: &&'static str| {
        let value = arguments.get(*name)?;
        let path = value.as_str().filter(|path| is_path(path))?;
        let globs =
            directories(path).filter_map(|directory| Glob::new(&format!("{}/**", Glob::escape(directory))).ok());
        Some(VaryingArgument { name, value, wider: globs.map(Constraint::Glob).collect() })
    };
    RESOURCES.iter().find_map(path)
}

/// Returns the first argument that is a URL by its name or its schema.
fn url<'a>(arguments: &'a Map<String, Value>, schema: &Value) -> Option<VaryingArgument<'a>> {
    let url = |(name, value): (&'a String, &'a Value)| {
        let url = Destination::from_url(value.as_str()?).ok().filter(|_| is_url(name, schema))?;
        Some(VaryingArgument { name, value, wider: UrlScope::around(&url).map(Constraint::Url).collect() })
    };
    arguments.iter().find_map(url)
}

/// Returns whether an argument is meant to be a URL.
fn is_url(name: &str, schema: &Value) -> bool {
    let format = |property: &Value| property.get("format").and_then(Value::as_str) == Some("uri");
    URLS.contains(&name) || property(schema, name).is_some_and(format)
}

/// Returns the parent directory of a path, and then its top directory if that is another one.
fn directories(path: &str) -> impl Iterator<Item = &str> {
    let parent = parent(path);
    let top = path.split_once('/').map(|(top, _)| top);
    parent.into_iter().chain(top.filter(|top| parent != Some(top)))
}

/// Returns the constraints of every argument except the resource. Content may be anything, and the others must be the
/// same. Returns none if an argument cannot be named.
fn others(arguments: &Map<String, Value>, resource: &str, schema: &Value) -> Option<BTreeMap<String, Constraint>> {
    if arguments.len() > PATTERN_ARGUMENTS {
        return None;
    }
    let constrain = |(name, value): (&String, &Value)| {
        let constraint = if is_payload(name, value, schema) { Constraint::Any } else { exact(value)? };
        (name.len() <= ARGUMENT_KEY_BYTES).then(|| (name.clone(), constraint))
    };
    arguments.iter().filter(|(name, _)| name.as_str() != resource).map(constrain).collect()
}

fn exact(value: &Value) -> Option<Constraint> {
    is_nameable(value).then(|| Constraint::Exact(value.clone()))
}

/// Returns whether an argument is content. An argument that names a resource never is, whatever its schema says.
fn is_payload(name: &str, value: &Value, schema: &Value) -> bool {
    let media =
        |property: &Value| ["contentMediaType", "contentEncoding"].iter().any(|key| property.get(key).is_some());
    let names_something = RESOURCES.contains(&name) || is_url(name, schema);
    value.is_string() && !names_something && (PAYLOADS.contains(&name) || property(schema, name).is_some_and(media))
}

/// Returns the schema of an argument.
fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}
