//! Which patterns a person may choose from.
//!
//! No offer is wider than the directory at the root of the path that was seen, or the scheme, host and port of the URL
//! that was seen. None lets an argument vary that is neither of these nor what is put there. It must not know how a
//! person is asked.

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

/// Arguments that hold what a call puts somewhere.
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
    /// What may be offered to a person who is asked about a call with these arguments, from narrow to wide. The exact
    /// call is not among them. Nothing is offered where no argument names a path or a URL, or where another argument is
    /// a list, an object or a long text.
    pub fn offers(arguments: &Map<String, Value>, schema: &Value) -> Vec<Self> {
        offers(arguments, schema)
    }
}

fn offers(arguments: &Map<String, Value>, schema: &Value) -> Vec<Pattern> {
    let mut offers = Vec::new();
    // A URL first, so that its host is never what is left out.
    for resource in url(arguments, schema).into_iter().chain(path(arguments)) {
        for offer in resource.offers(arguments, schema) {
            // With a path beside a URL, both offer the same two with any payload.
            if !offers.contains(&offer) {
                offers.push(offer);
            }
        }
    }
    offers.truncate(OFFERS_MAX);
    offers
}

/// An argument that may vary.
struct Resource<'a> {
    name: &'a str,
    value: &'a Value,
    /// What it may be besides what it is, from narrow to wide.
    wider: Vec<Constraint>,
}

impl Resource<'_> {
    fn offers(self, arguments: &Map<String, Value>, schema: &Value) -> Vec<Pattern> {
        let Some(others) = others(arguments, self.name, schema) else { return Vec::new() };
        let has_payload = others.values().any(|constraint| *constraint == Constraint::Any);
        let same = exact(self.value).filter(|_| has_payload);
        let offer = |constraint| {
            let mut arguments = others.clone();
            arguments.insert(self.name.to_owned(), constraint);
            Pattern { arguments }
        };
        same.into_iter().chain(self.wider).map(offer).collect()
    }
}

/// The first argument by its name that is a path a person can read.
fn path(arguments: &Map<String, Value>) -> Option<Resource<'_>> {
    let path = |name: &&'static str| {
        let value = arguments.get(*name)?;
        let path = value.as_str().filter(|path| is_path(path))?;
        let globs =
            directories(path).filter_map(|directory| Glob::new(&format!("{}/**", Glob::escape(directory))).ok());
        Some(Resource { name, value, wider: globs.map(Constraint::Glob).collect() })
    };
    RESOURCES.iter().find_map(path)
}

/// The first argument that is a URL of the network, by its name or by what the schema says.
fn url<'a>(arguments: &'a Map<String, Value>, schema: &Value) -> Option<Resource<'a>> {
    let url = |(name, value): (&'a String, &'a Value)| {
        let url = Destination::from_url(value.as_str()?).ok().filter(|_| is_url(name, schema))?;
        Some(Resource { name, value, wider: UrlScope::around(&url).map(Constraint::Url).collect() })
    };
    arguments.iter().find_map(url)
}

/// Whether an argument is there to name a URL.
fn is_url(name: &str, schema: &Value) -> bool {
    let format = |property: &Value| property.get("format").and_then(Value::as_str) == Some("uri");
    URLS.contains(&name) || property(schema, name).is_some_and(format)
}

/// The directory of a path, and the directory at its root where that is another one; narrow before wide.
fn directories(path: &str) -> impl Iterator<Item = &str> {
    let parent = parent(path);
    let top = path.split_once('/').map(|(top, _)| top);
    parent.into_iter().chain(top.filter(|top| parent != Some(top)))
}

/// Every argument but the resource as it is, except that what is put somewhere may be anything. None where an argument
/// cannot be named.
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

/// Whether an argument holds what the call puts somewhere. What names a resource never does, whatever its schema says.
fn is_payload(name: &str, value: &Value, schema: &Value) -> bool {
    let media =
        |property: &Value| ["contentMediaType", "contentEncoding"].iter().any(|key| property.get(key).is_some());
    let names_something = RESOURCES.contains(&name) || is_url(name, schema);
    value.is_string() && !names_something && (PAYLOADS.contains(&name) || property(schema, name).is_some_and(media))
}

/// What the schema says of an argument.
fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}
