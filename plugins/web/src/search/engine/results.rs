//! The results in an engine's answer.

use portcullis_sdk::serde_json::Value;

use crate::search::hit::Hit;

/// Maximum results of a document to read. Twenty are listed at most, and some have no usable link.
const RESULTS_READ_MAX: usize = 100;

/// What an engine found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::search) struct Found {
    pub(in crate::search) hits: Vec<Hit>,
    /// The number of results that have no usable link.
    pub(in crate::search) left_out: usize,
    /// What the engine says about an incomplete search; empty if nothing.
    pub(in crate::search) note: String,
}

/// Collects the results of an array.
pub(super) fn collect<'d>(results: &'d [Value], hit: impl Fn(&'d Value) -> Option<Hit>) -> Found {
    let results = &results[..results.len().min(RESULTS_READ_MAX)];
    let hits: Vec<Hit> = results.iter().filter_map(hit).collect();
    Found { left_out: results.len() - hits.len(), hits, note: String::new() }
}

/// Returns a text of a document; empty if it is missing or no text.
pub(super) fn text<'d>(document: &'d Value, member: &str) -> &'d str {
    document.get(member).and_then(Value::as_str).unwrap_or_default()
}
