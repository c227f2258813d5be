//! What is lost of one tool, as it is found.

use serde::Serialize;
use std::collections::BTreeSet;

/// Something of a definition that its export does not say, or says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Loss {
    /// The tool, by the name that models know it by.
    pub tool: String,
    /// Where in the authoritative schema, as a JSON Pointer; empty for its root or the tool as a whole.
    pub pointer: String,
    /// The keyword it is about.
    pub keyword: String,
    /// A description of the repair.
    pub what: String,
}

/// Losses of one tool, each once although it was met on several ways.
#[derive(Debug, Default)]
pub(super) struct Notes {
    found: BTreeSet<(String, String, String)>,
    added: usize,
}

impl Notes {
    /// Adds one: where in the authoritative schema, which keyword, and what was done.
    pub(super) fn add(&mut self, pointer: &str, keyword: &str, what: impl Into<String>) {
        self.added += 1;
        self.found.insert((pointer.to_owned(), keyword.to_owned(), what.into()));
    }

    /// How many were added, those among them that were there already.
    pub(super) fn added(&self) -> usize {
        self.added
    }

    /// Takes over what was found on the side.
    pub(super) fn append(&mut self, other: Self) {
        self.found.extend(other.found);
    }

    /// The losses, under the tool's name.
    pub(super) fn of_tool(self, tool: &str) -> impl Iterator<Item = Loss> {
        let loss = move |(pointer, keyword, what)| Loss { tool: tool.to_owned(), pointer, keyword, what };
        self.found.into_iter().map(loss)
    }
}
