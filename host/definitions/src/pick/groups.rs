//! Groups of synonyms, by their stems.

use super::stem::stem;
use std::collections::HashMap;

/// The words of several groups.
pub(super) struct Groups(HashMap<String, Vec<String>>);

impl Groups {
    pub(super) fn of(groups: &[&[&str]]) -> Self {
        let mut alike: HashMap<String, Vec<String>> = HashMap::new();
        for group in groups {
            let stems: Vec<String> = group.iter().map(|word| stem(word)).collect();
            for (own, word) in stems.iter().enumerate() {
                let others = stems.iter().enumerate().filter(|(other, _)| *other != own);
                alike.entry(word.clone()).or_default().extend(others.map(|(_, other)| other.clone()));
            }
        }
        // Two words can be together in several groups.
        for others in alike.values_mut() {
            others.sort();
            others.dedup();
        }
        Self(alike)
    }

    /// Returns the other stems in the group of this one, or none if it is in no group.
    pub(super) fn alike(&self, term: &str) -> &[String] {
        self.0.get(term).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_the_same_group_are_synonyms() {
        let groups = Groups::of(&[&["make", "create"], &["create", "add"], &["delete"]]);
        assert_eq!(groups.alike(&stem("create")), ["add", &*stem("make")]);
        assert_eq!(groups.alike("add"), [stem("create")]);
        assert!(groups.alike("delet").is_empty() && groups.alike("bucket").is_empty());
    }
}
