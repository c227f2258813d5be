//! Patterns that a plugin or a hook proposes, with the limits of stored patterns.
//!
//! This file must not know who proposes a pattern, or what it is remembered for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Pattern;
use super::argument_names::{RESOURCES, URLS};
use super::constraint::{Constraint, is_nameable};
use super::limits::{OFFERS_MAX, PATTERN_ARGUMENTS, RESOURCE_PATH_BYTES};
use crate::argument::ARGUMENT_KEY_BYTES;
use crate::destination::Destination;
use crate::glob::Glob;

/// Maximum patterns that one plugin or hook proposes for one approval request: as many as the host offers itself.
pub const PROPOSALS_MAX: usize = OFFERS_MAX;

/// How one argument of a later call may differ from that of the approved call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// The name of the argument.
    pub argument: String,
    /// The directory that it may name a path in, such as `src/**`. If it is none, the argument may be anything.
    pub within: Option<String>,
}

impl Pattern {
    /// Returns the pattern that lets only some arguments differ from those of a call, as a plugin or a hook proposes
    /// it. Returns none if the proposal names an argument twice or one that the call does not have, if it lets an
    /// argument be anything that names a path, a URL or a resource, if it names something wider than one directory, if
    /// the pattern would not cover the call itself, or if it would name a list, an object or a long text exactly.
    pub fn varying(arguments: &Map<String, Value>, variations: &[Variation]) -> Option<Self> {
        varying(arguments, variations)
    }
}

fn varying(arguments: &Map<String, Value>, variations: &[Variation]) -> Option<Pattern> {
    // Without a variation, the pattern would be the exact call, which every request offers.
    if variations.is_empty() || variations.len() > PATTERN_ARGUMENTS || arguments.len() > PATTERN_ARGUMENTS {
        return None;
    }
    let mut varied = BTreeMap::new();
    for variation in variations {
        let value = arguments.get(&variation.argument)?;
        let constraint = constraint(variation, value)?;
        if !constraint.covers(value) || varied.insert(variation.argument.as_str(), constraint).is_some() {
            return None;
        }
    }
    let constrain = |(name, value): (&String, &Value)| {
        let exact = || is_nameable(value).then(|| Constraint::Exact(value.clone()));
        let constraint = varied.get(name.as_str()).cloned().or_else(exact)?;
        (name.len() <= ARGUMENT_KEY_BYTES).then(|| (name.clone(), constraint))
    };
    Some(Pattern { arguments: arguments.iter().map(constrain).collect::<Option<_>>()? })
}

/// Returns the constraint on one argument, or none if it would be wider than a stored pattern may be.
fn constraint(variation: &Variation, value: &Value) -> Option<Constraint> {
    let names_a_place = RESOURCES.contains(&&*variation.argument) || URLS.contains(&&*variation.argument);
    match &variation.within {
        // A handle may be narrowed to an argument of any name, so check whether the value is a URL.
        None if names_a_place || value.as_str().is_some_and(|text| Destination::from_url(text).is_ok()) => None,
        None => Some(Constraint::Any),
        Some(directory) if directory.len() > RESOURCE_PATH_BYTES => None,
        Some(directory) => {
            let glob = Glob::new(directory).ok()?;
            glob.is_directory().then_some(Constraint::Glob(glob))
        }
    }
}
