//! The terms that occur in a catalog, each under a number: a word is read once, however often it occurs.

use super::terms;
use std::collections::HashMap;

/// A term, by its number.
pub(super) type Term = u32;

/// The terms that were read so far.
#[derive(Default)]
pub(super) struct Lexicon {
    numbers: HashMap<String, Term>,
    /// What was read of each run of letters.
    runs: HashMap<String, Vec<Term>>,
}

impl Lexicon {
    /// Adds the terms of a text, in order, until there are so many.
    pub(super) fn read(&mut self, text: &str, most: usize, read: &mut Vec<Term>) {
        for run in terms::runs(text) {
            if read.len() >= most {
                return;
            }
            if let Some(known) = self.runs.get(run) {
                read.extend(known);
                continue;
            }
            let known: Vec<Term> = terms::of_run(run).into_iter().filter_map(|term| self.number(term)).collect();
            read.extend(&known);
            self.runs.insert(run.to_owned(), known);
        }
    }

    /// The number of a term. There are never more than a number can tell apart: they would fill the memory before.
    fn number(&mut self, term: String) -> Option<Term> {
        let next = Term::try_from(self.numbers.len()).ok()?;
        Some(*self.numbers.entry(term).or_insert(next))
    }

    /// How many terms there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The terms in the order of their bytes, each with its number.
    pub(super) fn into_sorted(self) -> Vec<(String, Term)> {
        let mut terms: Vec<_> = self.numbers.into_iter().collect();
        terms.sort_unstable();
        terms
    }
}
