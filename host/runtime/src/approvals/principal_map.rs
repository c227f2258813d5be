//! A bounded map in which each entry belongs to a principal. A principal that adds too many entries loses its own. It
//! never removes those of another principal that has fewer.

use crate::ledger::root_of_principal;
use std::collections::HashMap;
use std::hash::Hash;

/// Maximum entries of one principal, its sub-agents included. A caller can make any number of sessions.
const OWN_ENTRIES_MAX: usize = 1024;

/// Maximum entries of all principals. At a few hundred bytes each, a full map takes about one mebibyte.
const ENTRIES_MAX: usize = 4096;

/// Entries by principal and key. One too many removes the least recently used entry of the principal that has the most.
pub(super) struct PrincipalMap<K, V> {
    /// By the root of the principal: an entry of a sub-agent counts for the principal that it acts for.
    principals: HashMap<String, HashMap<K, PrincipalEntry<V>>>,
    /// Entries of all principals. Every call makes one, so they are not counted again each time.
    entries: usize,
    /// Counts uses, to order the entries by the last one.
    uses: u64,
}

struct PrincipalEntry<V> {
    value: V,
    used: u64,
}

impl<K, V> Default for PrincipalMap<K, V> {
    fn default() -> Self {
        Self { principals: HashMap::new(), entries: 0, uses: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> PrincipalMap<K, V> {
    /// Returns an entry. Reading it counts as a use.
    pub(super) fn get(&mut self, principal: &str, key: &K) -> Option<&V> {
        self.uses += 1;
        let entry = self.principals.get_mut(root_of_principal(principal))?.get_mut(key)?;
        entry.used = self.uses;
        Some(&entry.value)
    }

    /// Adds or replaces an entry, and makes room for it.
    pub(super) fn insert(&mut self, principal: &str, key: K, value: V) {
        self.uses += 1;
        let own = self.principals.entry(root_of_principal(principal).to_owned()).or_default();
        if own.insert(key, PrincipalEntry { value, used: self.uses }).is_none() {
            self.entries += 1;
        }
        if own.len() > OWN_ENTRIES_MAX {
            remove_oldest(own);
            self.entries -= 1;
        } else if self.entries > ENTRIES_MAX {
            // The new entry counts, so a principal that adds has more than another one with equally many before.
            self.remove_from_the_largest();
        }
    }

    fn remove_from_the_largest(&mut self) {
        let largest = self.principals.iter_mut().max_by_key(|(_, entries)| entries.len());
        let Some((principal, entries)) = largest else { return };
        remove_oldest(entries);
        self.entries -= 1;
        if entries.is_empty() {
            let principal = principal.clone();
            self.principals.remove(&principal);
        }
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, principal: &str, key: &K) {
        let principal = root_of_principal(principal);
        let Some(own) = self.principals.get_mut(principal) else { return };
        if own.remove(key).is_some() {
            self.entries -= 1;
        }
        if own.is_empty() {
            self.principals.remove(principal);
        }
    }
}

/// Removes the least recently used entry.
fn remove_oldest<K: Clone + Eq + Hash, V>(entries: &mut HashMap<K, PrincipalEntry<V>>) {
    let oldest = entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
    if let Some(oldest) = oldest {
        entries.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(principal: &str, entries: usize, map: &mut PrincipalMap<usize, ()>) {
        (0..entries).for_each(|key| map.insert(principal, key, ()));
    }

    /// Counts them again.
    fn all(map: &PrincipalMap<usize, ()>) -> usize {
        let counted = map.principals.values().map(HashMap::len).sum();
        assert_eq!(counted, map.entries);
        counted
    }

    fn count(principal: &str, map: &PrincipalMap<usize, ()>) -> usize {
        map.principals.get(principal).map_or(0, HashMap::len)
    }

    #[test]
    fn a_principal_with_too_many_entries_loses_its_least_recently_used_one() {
        let mut map = PrincipalMap::default();
        filled("a", OWN_ENTRIES_MAX, &mut map);
        assert!(map.get("a", &0).is_some(), "a read is a use");
        map.insert("a", OWN_ENTRIES_MAX, ());
        assert!(map.get("a", &1).is_none());
        assert!(map.get("a", &0).is_some() && map.get("a", &OWN_ENTRIES_MAX).is_some());
        assert_eq!(count("a", &map), OWN_ENTRIES_MAX);
    }

    #[test]
    fn sub_agents_count_for_the_principal_that_they_act_for() {
        let mut map = PrincipalMap::default();
        map.insert("b", 0, ());
        for helper in 0..2 * OWN_ENTRIES_MAX {
            map.insert(&format!("a/helper{helper}"), helper, ());
        }
        assert_eq!((count("a", &map), count("b", &map)), (OWN_ENTRIES_MAX, 1));
    }

    /// However many principals there are, and however many entries they add.
    #[test]
    fn a_full_map_removes_entries_of_the_principal_that_has_the_most() {
        let mut map = PrincipalMap::default();
        filled("few", 1, &mut map);
        let many = ENTRIES_MAX / OWN_ENTRIES_MAX;
        for number in 0..many {
            filled(&format!("many{number}"), OWN_ENTRIES_MAX, &mut map);
        }
        filled("some", OWN_ENTRIES_MAX / 2, &mut map);
        assert_eq!((all(&map), count("few", &map)), (ENTRIES_MAX, 1));
        assert_eq!(count("some", &map), OWN_ENTRIES_MAX / 2);
        for number in 0..many {
            filled(&format!("many{number}"), 2 * OWN_ENTRIES_MAX, &mut map);
        }
        assert_eq!((all(&map), count("few", &map)), (ENTRIES_MAX, 1));
        assert_eq!(count("some", &map), OWN_ENTRIES_MAX / 2, "it has fewer than the others");
    }

    #[test]
    fn many_principals_do_not_exceed_the_limit() {
        let mut map = PrincipalMap::default();
        (0..2 * ENTRIES_MAX).for_each(|number| map.insert(&format!("p{number}"), 0, ()));
        assert_eq!((all(&map), map.principals.len()), (ENTRIES_MAX, ENTRIES_MAX));
    }

    #[test]
    fn a_principal_without_entries_is_removed() {
        let mut map = PrincipalMap::default();
        map.insert("a/b", 1, ());
        map.remove("a", &1);
        assert!(map.principals.is_empty() && map.get("a", &1).is_none());
    }
}
