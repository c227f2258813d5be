//! Phrasal verbs, which mean something other than their verb: to look for something is not to look at it.

use super::stem::stem;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A verb, its particle, and the verbs that programs use for the meaning of the two.
const PHRASES: &[(&str, &str, &[&str])] = &[
    ("back", "up", &["backup", "copy"]),
    ("bring", "back", &["restore", "recover"]),
    ("chuck", "out", &["delete", "purge"]),
    ("clean", "up", &["delete", "purge"]),
    ("clear", "out", &["delete", "purge"]),
    ("find", "out", &["get", "describe"]),
    ("get", "back", &["restore", "recover"]),
    ("go", "on", &["continue", "resume"]),
    ("hand", "over", &["transfer"]),
    ("kill", "off", &["terminate", "stop"]),
    ("look", "for", &["search", "find", "grep"]),
    ("make", "up", &["generate", "create"]),
    ("put", "back", &["restore", "move"]),
    ("roll", "back", &["restore", "rollback", "revert"]),
    ("search", "for", &["search", "find", "grep"]),
    ("set", "up", &["create"]),
    ("shut", "down", &["stop"]),
    ("sign", "up", &["register", "create", "subscribe"]),
    ("start", "up", &["start"]),
    ("switch", "off", &["disable", "stop"]),
    ("switch", "on", &["enable", "start"]),
    ("take", "back", &["cancel", "undo", "revoke"]),
    ("turn", "off", &["disable", "stop"]),
    ("turn", "on", &["enable", "start"]),
    ("wake", "up", &["start", "resume"]),
];

/// Maximum words between the two, as in `turn the lights off`.
const BETWEEN_MAX: usize = 4;

/// The particle that always directly follows its verb.
const ADJACENT: &str = "for";

/// A phrasal verb in a text.
pub(super) struct Phrase {
    /// The verbs of programs with this meaning, as stems.
    pub(super) verbs: &'static [String],
    /// The index of its particle.
    pub(super) with: usize,
}

/// The particles of one verb, each with the verbs of programs.
type With = Vec<(&'static str, Vec<String>)>;

/// Finds the phrasal verb that starts at this index of a lower-case text.
pub(super) fn at(words: &[String], place: usize) -> Option<Phrase> {
    static KNOWN: LazyLock<HashMap<String, With>> = LazyLock::new(|| {
        let mut known: HashMap<String, With> = HashMap::new();
        for (verb, with, verbs) in PHRASES {
            known.entry(stem(verb)).or_default().push((with, verbs.iter().map(|verb| stem(verb)).collect()));
        }
        known
    });
    let known = KNOWN.get(&stem(words.get(place)?))?;
    known.iter().find_map(|(with, verbs)| {
        let most = if *with == ADJACENT { 1 } else { BETWEEN_MAX + 1 };
        let between = words.iter().skip(place + 1).take(most).position(|word| word == with)?;
        Some(Phrase { verbs, with: place + 1 + between })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(Vec<String>, usize)> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        at(&words, 0).map(|phrase| (phrase.verbs.to_vec(), phrase.with))
    }

    #[test]
    fn a_verb_of_two_words_is_found_in_its_forms_and_around_what_it_is_about() {
        let search = || ["search", "find", "grep"].map(stem).to_vec();
        assert_eq!(found("looking for text"), Some((search(), 1)));
        assert_eq!(found("look at text for me"), None);
        assert_eq!(found("turned the lights off").map(|(_, with)| with), Some(3));
        assert_eq!(found("turn it all and everything else off"), None);
        assert_eq!(found("take the key"), None);
        assert_eq!(found("keys for"), None);
    }

    #[test]
    fn the_table_is_in_order_and_has_no_phrase_twice() {
        assert!(PHRASES.is_sorted_by_key(|(verb, with, _)| (verb, with)));
        assert!(PHRASES.windows(2).all(|pair| (pair[0].0, pair[0].1) != (pair[1].0, pair[1].1)));
    }
}
