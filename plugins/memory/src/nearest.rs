//! Finds the keys that are most similar to a missing one.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Minimum likeness, from 0 to 100. Below this, keys have little in common.
const LIKENESS_MIN: usize = 40;

/// Returns the most similar keys, best first.
pub(crate) fn to<'a>(missing: &str, keys: &'a [String], shown_max: usize) -> Vec<&'a str> {
    let missing = pairs(missing);
    let mut scored: Vec<(usize, &str)> =
        keys.iter().map(|key| (likeness(&missing, &pairs(key)), key.as_str())).collect();
    scored.retain(|(score, _)| *score >= LIKENESS_MIN);
    scored.sort_by_key(|(score, _)| Reverse(*score));
    scored.into_iter().take(shown_max).map(|(_, key)| key).collect()
}

/// Returns the pairs of adjacent characters, in lower case.
fn pairs(key: &str) -> BTreeSet<(char, char)> {
    let characters = || key.chars().flat_map(char::to_lowercase);
    characters().zip(characters().skip(1)).collect()
}

/// Returns the likeness, from 0 (nothing in common) to 100.
fn likeness(one: &BTreeSet<(char, char)>, other: &BTreeSet<(char, char)>) -> usize {
    match one.len() + other.len() {
        0 => 0,
        all => 200 * one.intersection(other).count() / all,
    }
}
