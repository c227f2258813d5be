//! Numbers the terms of a catalog. A word is only analysed once, however often it occurs.

use super::terms;
use std::collections::HashMap;

/// The number of a term.
pub(super) type Term = u32;

/// The terms so far.
#[derive(Default)]
pub(super) struct Lexicon {
    numbers: HashMap<String, Term>,
    /// The terms of each run of letters that was analysed.
    runs: HashMap<String, Vec<Term>>,
}

impl Lexicon {
    /// Adds the terms of a text, in order, until `read` has `most` terms.
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

    /// Returns the number of a term. The numbers never run out, because the memory would be full before.
    fn number(&mut self, term: String) -> Option<Term> {
        let next = Term::try_from(self.numbers.len()).ok()?;
        Some(*self.numbers.entry(term).or_insert(next))
    }

    /// Returns the number of terms.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the terms sorted by bytes, each with its number.
    pub(super) fn into_sorted(self) -> Vec<(String, Term)> {
        let mut terms: Vec<_> = self.numbers.into_iter().collect();
        terms.sort_unstable();
        terms
    }
}
