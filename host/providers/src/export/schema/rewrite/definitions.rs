//! The definitions of an export, with new names.

use crate::export::schema::dialect::ReferenceStyle;
use crate::export::schema::pointer::tokens;
use crate::export::schema::references::ReferenceTarget;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum bytes of a definition's name.
const NAME_BYTES_MAX: usize = 64;

/// The definitions of an export.
#[derive(Debug, Default)]
pub(super) struct ExportDefinitions<'a> {
    /// Their names, by their place in the original.
    names: BTreeMap<String, String>,
    waiting: VecDeque<(String, ReferenceTarget<'a>)>,
    /// The definition that is being built. It is none for the root.
    current: Option<String>,
    /// The references: from one place to another, and whether through an optional member.
    edges: BTreeSet<(String, String, bool)>,
}

impl<'a> ExportDefinitions<'a> {
    /// Returns the name of a referenced definition, which is built later.
    pub(super) fn name(&mut self, target: &ReferenceTarget<'a>, optional: bool) -> String {
        // References to the root lead to a definition of it, or are permitted. So the root itself needs no edges.
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

    /// Returns the next definition to build.
    pub(super) fn next(&mut self) -> Option<(String, ReferenceTarget<'a>)> {
        let next = self.waiting.pop_front()?;
        self.current = Some(next.1.at.clone());
        Some(next)
    }

    /// Returns whether the definition that is being built is one of these.
    pub(super) fn is_within(&self, places: &BTreeSet<String>) -> bool {
        self.current.as_ref().is_some_and(|current| places.contains(current))
    }

    /// Returns the definitions in reference cycles that the dialect does not permit, or none if there are no such
    /// cycles.
    pub(super) fn cycles(&self, kept: ReferenceStyle) -> Option<BTreeSet<String>> {
        let counts = |optional: bool| match kept {
            ReferenceStyle::WithRoot | ReferenceStyle::Inlined => false,
            ReferenceStyle::Optional => !optional,
            ReferenceStyle::Acyclic => true,
        };
        let edges: Vec<(&str, &str)> =
            self.edges.iter().filter(|edge| counts(edge.2)).map(|(from, to, _)| (from.as_str(), to.as_str())).collect();
        let mut left: BTreeSet<&str> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        // A definition without incoming or without outgoing references is not in a cycle.
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

/// Derives a name that every provider accepts from the place.
fn plain(at: &str) -> String {
    let last = tokens(at).last().unwrap_or_else(|| "root".to_owned());
    let taken = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
    let name: String = last.chars().map(taken).take(NAME_BYTES_MAX).collect();
    if name.is_empty() { "definition".to_owned() } else { name }
}
