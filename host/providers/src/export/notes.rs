//! Collects the losses of one tool.

use serde::Serialize;
use std::collections::BTreeSet;

/// A part of a definition that its export omits or changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Loss {
    /// The tool's name for models.
    pub tool: String,
    /// The place in the authoritative schema, as a JSON Pointer. It is empty for the root, or for the tool as a whole.
    pub pointer: String,
    /// The affected keyword.
    pub keyword: String,
    /// A description of the repair.
    pub what: String,
}

/// The losses of one tool, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Notes {
    found: BTreeSet<(String, String, String)>,
    added: usize,
}

impl Notes {
    /// Adds a loss: the place in the authoritative schema, the keyword, and what the export does instead.
    pub(super) fn add(&mut self, pointer: &str, keyword: &str, what: impl Into<String>) {
        self.added += 1;
        self.found.insert((pointer.to_owned(), keyword.to_owned(), what.into()));
    }

    /// Returns how many losses were added, including duplicates.
    pub(super) fn added(&self) -> usize {
        self.added
    }

    /// Adds the losses of another collection.
    pub(super) fn append(&mut self, other: Self) {
        self.found.extend(other.found);
    }

    /// Returns the losses with the tool's name.
    pub(super) fn of_tool(self, tool: &str) -> impl Iterator<Item = Loss> {
        let loss = move |(pointer, keyword, what)| Loss { tool: tool.to_owned(), pointer, keyword, what };
        self.found.into_iter().map(loss)
    }
}
