//! Suggestions for a path that does not exist.

use crate::likeness::Likeness;
use crate::place::Place;

/// Maximum number of entries that a message names: enough to recognise a directory.
const NAMES_MAX: usize = 8;

/// Minimum likeness, from 0 to 100. Below this, names have little in common.
const LIKENESS_MIN: usize = 50;

/// Returns a message with similar paths, or with the content of the nearest directory that exists. `names_in` lists a
/// directory, if it is one.
pub(crate) fn of_missing(place: &Place, names_in: impl Fn(&Place) -> Option<Vec<String>>) -> String {
    let shown = place.shown();
    let Some((directory, missing, names)) = nearest(place, names_in) else {
        return format!("`{shown}` does not exist");
    };
    let close = alike(&missing, &names);
    if names.is_empty() {
        return format!("`{shown}` does not exist; `{}` is empty", directory.shown());
    }
    if close.is_empty() {
        let (first, more) = (names[..names.len().min(NAMES_MAX)].join(", "), names.len().saturating_sub(NAMES_MAX));
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        return format!("`{shown}` does not exist; `{}` has {first}{more}", directory.shown());
    }
    let close: Vec<String> = close.iter().map(|name| join(&directory, name)).collect();
    format!("`{shown}` does not exist; did you mean {}?", close.join(", "))
}

/// Returns the innermost existing directory of a path, the segment missing in it, and its names.
fn nearest(place: &Place, names_in: impl Fn(&Place) -> Option<Vec<String>>) -> Option<(Place, String, Vec<String>)> {
    let mut missing = place.clone();
    while let Some(parent) = missing.parent() {
        if let Some(names) = names_in(&parent) {
            return Some((parent, missing.name().to_owned(), names));
        }
        missing = parent;
    }
    None
}

/// Returns the names that are most similar to the missing one, best first.
fn alike(missing: &str, names: &[String]) -> Vec<String> {
    let missing = Likeness::to(missing);
    let mut scored: Vec<(usize, &String)> = names.iter().map(|name| (missing.of(name), name)).collect();
    scored.retain(|(score, _)| *score >= LIKENESS_MIN);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().take(NAMES_MAX).map(|(_, name)| name.clone()).collect()
}

fn join(directory: &Place, name: &str) -> String {
    if directory.path().is_empty() { format!("`{name}`") } else { format!("`{}/{name}`", directory.path()) }
}
