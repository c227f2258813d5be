//! The keys that are most like one that is missing.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// From 0 to 100: below this, keys have little in common.
const LIKENESS_MIN: usize = 40;

/// The nearest keys, the most alike first.
pub(crate) fn to<'a>(missing: &str, keys: &'a [String], shown_max: usize) -> Vec<&'a str> {
    let missing = pairs(missing);
    let mut scored: Vec<(usize, &str)> =
        keys.iter().map(|key| (likeness(&missing, &pairs(key)), key.as_str())).collect();
    scored.retain(|(score, _)| *score >= LIKENESS_MIN);
    scored.sort_by_key(|(score, _)| Reverse(*score));
    scored.into_iter().take(shown_max).map(|(_, key)| key).collect()
}

/// The pairs of neighbouring characters, in lower case.
fn pairs(key: &str) -> BTreeSet<(char, char)> {
    let characters = || key.chars().flat_map(char::to_lowercase);
    characters().zip(characters().skip(1)).collect()
}

/// From 0, nothing in common, to 100.
fn likeness(one: &BTreeSet<(char, char)>, other: &BTreeSet<(char, char)>) -> usize {
    match one.len() + other.len() {
        0 => 0,
        all => 200 * one.intersection(other).count() / all,
    }
}
