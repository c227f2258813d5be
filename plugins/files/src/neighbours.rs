//! What a model may have meant by a path that does not exist.

use crate::likeness::Likeness;
use crate::place::Place;
use crate::workspace::{Entry, Workspace};

/// How many entries a message names: enough to recognise a directory by.
const NAMES_MAX: usize = 8;

/// From 0 to 100: below this, names have little in common.
const LIKENESS_MIN: usize = 50;

/// A message that names the nearest directory that exists, and what is in it.
pub(crate) fn of_missing(workspace: &Workspace, place: &Place) -> String {
    let shown = place.shown();
    let Some((directory, missing, entries)) = nearest(workspace, place) else {
        return format!("`{shown}` does not exist");
    };
    let names: Vec<String> = entries.iter().map(name).collect();
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

/// The innermost directory that exists on the way, the segment that is missing there, and what is there instead.
fn nearest(workspace: &Workspace, place: &Place) -> Option<(Place, String, Vec<Entry>)> {
    let mut missing = place.clone();
    while let Some(parent) = missing.parent() {
        if let Some(entries) = workspace.neighbours(&parent) {
            return Some((parent, missing.name().to_owned(), entries));
        }
        missing = parent;
    }
    None
}

/// The names that are most like the missing one, the nearest first.
fn alike(missing: &str, names: &[String]) -> Vec<String> {
    let missing = Likeness::to(missing);
    let mut scored: Vec<(usize, &String)> = names.iter().map(|name| (missing.of(name), name)).collect();
    scored.retain(|(score, _)| *score >= LIKENESS_MIN);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().take(NAMES_MAX).map(|(_, name)| name.clone()).collect()
}

fn name(entry: &Entry) -> String {
    if entry.kind.is_dir() { format!("{}/", entry.name) } else { entry.name.clone() }
}

fn join(directory: &Place, name: &str) -> String {
    if directory.path().is_empty() { format!("`{name}`") } else { format!("`{}/{name}`", directory.path()) }
}
