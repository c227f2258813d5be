//! Which patterns a person may choose from.
//!
//! No offer is wider than the directory at the root of the path that was seen, and none lets an argument vary that is
//! neither that path nor what is put there. It must not know how a person is asked.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Constraint, OFFERS_MAX, PATTERN_ARGUMENTS, Pattern, is_nameable, is_path, parent};
use crate::argument::ARGUMENT_KEY_BYTES;
use crate::glob::Glob;

/// Arguments that name what a call is about.
pub(crate) const RESOURCES: [&str; 9] =
    ["dir", "directory", "file", "file_path", "filename", "filepath", "folder", "path", "resource"];
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

pub(super) fn offers(arguments: &Map<String, Value>, schema: &Value) -> Vec<Pattern> {
    let Some((resource, path)) = resource(arguments) else { return Vec::new() };
    let Some(others) = others(arguments, resource, schema) else { return Vec::new() };
    let has_payload = others.values().any(|constraint| *constraint == Constraint::Any);
    let same = exact(&Value::from(path)).filter(|_| has_payload);
    let directories =
        directories(path).filter_map(|directory| Glob::new(&format!("{}/**", Glob::escape(directory))).ok());
    let constraints = same.into_iter().chain(directories.map(Constraint::Glob));
    let offer = |constraint| {
        let mut arguments = others.clone();
        arguments.insert(resource.to_owned(), constraint);
        Pattern { arguments }
    };
    constraints.map(offer).take(OFFERS_MAX).collect()
}

/// The first argument by its name that is a path a person can read.
fn resource(arguments: &Map<String, Value>) -> Option<(&'static str, &str)> {
    let path = |name: &&'static str| Some((*name, arguments.get(*name)?.as_str().filter(|path| is_path(path))?));
    RESOURCES.iter().find_map(path)
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
    let property = schema.get("properties").and_then(|properties| properties.get(name));
    let media =
        |property: &Value| ["contentMediaType", "contentEncoding"].iter().any(|key| property.get(key).is_some());
    value.is_string() && !RESOURCES.contains(&name) && (PAYLOADS.contains(&name) || property.is_some_and(media))
}
