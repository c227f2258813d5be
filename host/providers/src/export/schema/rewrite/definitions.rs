//! What an export keeps references to, under names of its own.

use crate::export::schema::dialect::ReferenceStyle;
use crate::export::schema::pointer::tokens;
use crate::export::schema::references::ReferenceTarget;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The longest name of a definition that is kept as it is, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// The definitions of an export.
#[derive(Debug, Default)]
pub(super) struct ExportDefinitions<'a> {
    /// Their names, by where they stand in the original.
    names: BTreeMap<String, String>,
    waiting: VecDeque<(String, ReferenceTarget<'a>)>,
    /// Which is being built; none for the root.
    current: Option<String>,
    /// What refers to what: from the first place to the second, and whether through what can be left out.
    edges: BTreeSet<(String, String, bool)>,
}

impl<'a> ExportDefinitions<'a> {
    /// The name of what is referred to; it is built later.
    pub(super) fn name(&mut self, target: &ReferenceTarget<'a>, optional: bool) -> String {
        if let Some(from) = &self.current {
            self.edges.insert((from.clone(), target.at.clone(), optional));
        }
        if let Some(name) = self.names.get(&target.at) {
            return name.clone();
        }
        let mut name = plain(&target.at);
        while self.names.values().any(|taken| *taken == name) {
            name.push('_');
        }
        self.names.insert(target.at.clone(), name.clone());
        self.waiting.push_back((name.clone(), target.clone()));
        name
    }

    /// The next to be built.
    pub(super) fn next(&mut self) -> Option<(String, ReferenceTarget<'a>)> {
        let next = self.waiting.pop_front()?;
        self.current = Some(next.1.at.clone());
        Some(next)
    }

    /// Whether what is being built is one of these.
    pub(super) fn is_within(&self, places: &BTreeSet<String>) -> bool {
        self.current.as_ref().is_some_and(|current| places.contains(current))
    }

    /// The places that lead back to themselves where a dialect does not take that; none where it is well.
    pub(super) fn cycles(&self, kept: ReferenceStyle) -> Option<BTreeSet<String>> {
        let counts = |optional: bool| match kept {
            ReferenceStyle::WithRoot | ReferenceStyle::Inlined => false,
            ReferenceStyle::Optional => !optional,
            ReferenceStyle::Acyclic => true,
        };
        let edges: Vec<(&str, &str)> =
            self.edges.iter().filter(|edge| counts(edge.2)).map(|(from, to, _)| (from.as_str(), to.as_str())).collect();
        let mut left: BTreeSet<&str> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        // What nothing leads to, or what leads to nothing, is in no circle.
        loop {
            let inner = |(from, to): &&(&str, &str)| left.contains(from) && left.contains(to);
            let leads: BTreeSet<&str> = edges.iter().filter(inner).map(|(from, _)| *from).collect();
            let led: BTreeSet<&str> = edges.iter().filter(inner).map(|(_, to)| *to).collect();
            let next: BTreeSet<&str> = leads.intersection(&led).copied().collect();
            if next == left {
                break;
            }
            left = next;
        }
        let cycles: BTreeSet<String> = left.into_iter().map(str::to_owned).collect();
        (!cycles.is_empty()).then_some(cycles)
    }
}

/// A name that every provider takes, after the place.
fn plain(at: &str) -> String {
    let last = tokens(at).last().unwrap_or_else(|| "root".to_owned());
    let taken = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    let name: String = last.chars().map(taken).take(NAME_BYTES_MAX).collect();
    if name.is_empty() { "definition".to_owned() } else { name }
}
