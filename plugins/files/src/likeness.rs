//! Similarity of two short texts.

use std::collections::BTreeSet;

/// Maximum number of characters to compare.
const CHARACTERS_MAX: usize = 200;

/// A text, prepared for comparing.
pub(crate) struct Likeness {
    pairs: BTreeSet<(char, char)>,
}

impl Likeness {
    /// Collects the pairs of adjacent characters. Ignores surrounding white space and case.
    pub(crate) fn to(text: &str) -> Self {
        let characters = || text.trim().chars().take(CHARACTERS_MAX).map(|character| character.to_ascii_lowercase());
        Self { pairs: characters().zip(characters().skip(1)).collect() }
    }

    /// Returns the similarity, from 0 (nothing in common) to 100.
    pub(crate) fn of(&self, text: &str) -> usize {
        let other = Self::to(text);
        match self.pairs.len() + other.pairs.len() {
            0 => 0,
            all => 200 * self.pairs.intersection(&other.pairs).count() / all,
        }
    }
}
