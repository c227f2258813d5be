//! How much two short texts have in common.

use std::collections::BTreeSet;

/// How many characters are compared.
const CHARACTERS_MAX: usize = 200;

/// A text, prepared for comparing.
pub(crate) struct Likeness {
    pairs: BTreeSet<(char, char)>,
}

impl Likeness {
    /// Takes the pairs of neighbouring characters; white space around the text and the case of letters are no matter.
    pub(crate) fn to(text: &str) -> Self {
        let characters = || text.trim().chars().take(CHARACTERS_MAX).map(|character| character.to_ascii_lowercase());
        Self { pairs: characters().zip(characters().skip(1)).collect() }
    }

    /// From 0, nothing in common, to 100.
    pub(crate) fn of(&self, text: &str) -> usize {
        let other = Self::to(text);
        match self.pairs.len() + other.pairs.len() {
            0 => 0,
            all => 200 * self.pairs.intersection(&other.pairs).count() / all,
        }
    }
}
