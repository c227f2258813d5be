//! Stems of English words, by Porter's rules of 1980 with his later rule for `y`. So `creates`, `created` and
//! `creating` have the same stem, and so do `translate` and `translation`. Words of other alphabets are unchanged. The
//! crate rust-stemmers supports seventeen more languages, but has not been maintained for years, and one page of rules
//! is less to trust.

/// Replacements of long endings after a syllable. The first one that fits is used.
const DERIVED: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

/// The same, for what is left then.
const FORMED: [(&str, &str); 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

/// Endings that are dropped where two syllables stand before them.
const DROPPED: [&str; 18] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous",
    "ive", "ize",
];

/// Minimum length of a word that is stemmed, in bytes.
const WORD_BYTES_MIN: usize = 3;

/// Returns the stem of a lower-case word.
pub(super) fn stem(word: &str) -> String {
    if word.len() < WORD_BYTES_MIN || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut word = Word(word.to_owned());
    word.plural();
    word.past();
    word.end_in_i();
    word.exchange(&DERIVED);
    word.exchange(&FORMED);
    word.drop_ending();
    word.drop_e();
    word.0
}

struct Word(String);

impl Word {
    fn ends(&self, ending: &str) -> bool {
        self.0.ends_with(ending)
    }

    /// Returns the part before an ending.
    fn before(&self, ending: &str) -> &str {
        self.0.strip_suffix(ending).unwrap_or(&self.0)
    }

    fn replace(&mut self, ending: &str, by: &str) {
        self.0.truncate(self.before(ending).len());
        self.0.push_str(by);
    }

    fn plural(&mut self) {
        if self.ends("sses") {
            self.replace("es", "");
        } else if self.ends("ies") {
            self.replace("ies", "i");
        } else if self.ends("s") && !self.ends("ss") {
            self.replace("s", "");
        }
    }

    fn past(&mut self) {
        if self.ends("eed") {
            if syllables(self.before("eed")) > 0 {
                self.replace("eed", "ee");
            }
            return;
        }
        let Some(ending) = ["ed", "ing"].into_iter().find(|ending| self.ends(ending)) else { return };
        // `red` and `sing` are no forms of a shorter word.
        if !has_vowel(self.before(ending)) {
            return;
        }
        self.replace(ending, "");
        // The rest gets the end of the verb again: `creat` of `creating`, `stopp` of `stopped`, `fil` of `filing`.
        if self.ends("at") || self.ends("bl") || self.ends("iz") {
            self.0.push('e');
        } else if ends_twice(&self.0) && !self.0.ends_with(['l', 's', 'z']) {
            self.0.pop();
        } else if syllables(&self.0) == 1 && ends_short(&self.0) {
            self.0.push('e');
        }
    }

    fn end_in_i(&mut self) {
        // `y` stays in `by` and in `key`.
        let before = self.before("y");
        if self.ends("y") && before.len() > 1 && vowels(before).last() == Some(false) {
            self.replace("y", "i");
        }
    }

    fn exchange(&mut self, endings: &[(&str, &str)]) {
        let Some((ending, by)) = endings.iter().find(|(ending, _)| self.ends(ending)) else { return };
        if syllables(self.before(ending)) > 0 {
            self.replace(ending, by);
        }
    }

    fn drop_ending(&mut self) {
        // `ion` is an ending only after `s` and `t`, as in `translation`.
        let is_ion = self.ends("sion") || self.ends("tion");
        let ending = if is_ion { Some("ion") } else { DROPPED.into_iter().find(|ending| self.ends(ending)) };
        if let Some(ending) = ending
            && syllables(self.before(ending)) > 1
        {
            self.replace(ending, "");
        }
    }

    fn drop_e(&mut self) {
        if self.ends("e") {
            let before = self.before("e");
            let syllables = syllables(before);
            if syllables > 1 || (syllables == 1 && !ends_short(before)) {
                self.replace("e", "");
            }
        }
        if self.ends("ll") && syllables(&self.0) > 1 {
            self.0.pop();
        }
    }
}

/// Returns for each letter whether it is a vowel. `y` is one after a consonant.
fn vowels(text: &str) -> impl Iterator<Item = bool> {
    text.bytes().scan(true, |was_vowel, byte| {
        *was_vowel = matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u') || (byte == b'y' && !*was_vowel);
        Some(*was_vowel)
    })
}

fn has_vowel(text: &str) -> bool {
    vowels(text).any(|vowel| vowel)
}

/// Counts how often consonants follow vowels: Porter's measure.
fn syllables(text: &str) -> usize {
    let mut before = false;
    vowels(text).filter(|vowel| std::mem::replace(&mut before, *vowel) && !*vowel).count()
}

/// Returns whether a text ends with the same consonant twice.
fn ends_twice(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 1 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && vowels(text).last() == Some(false)
}

/// Returns whether a text ends with a consonant, a vowel, and a consonant other than `w`, `x` and `y`.
fn ends_short(text: &str) -> bool {
    let vowels: Vec<bool> = vowels(text).collect();
    vowels.ends_with(&[false, true, false]) && !text.ends_with(['w', 'x', 'y'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        let families: [&[&str]; 9] = [
            &["create", "creates", "created", "creating"],
            &["translate", "translates", "translating", "translation"],
            &["deploy", "deploys", "deployed", "deployment", "deployments"],
            &["stop", "stops", "stopped", "stopping"],
            &["policy", "policies"],
            &["list", "lists", "listed", "listing"],
            &["address", "addresses"],
            &["organize", "organization", "organizations"],
            &["agree", "agreed", "agreeing"],
        ];
        for family in families {
            let stems: Vec<String> = family.iter().map(|word| stem(word)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
    }

    #[test]
    fn stems_are_those_of_the_rules() {
        // From the examples of the article.
        let pairs = [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("feed", "feed"),
            ("plastered", "plaster"),
            ("sing", "sing"),
            ("sized", "size"),
            ("falling", "fall"),
            ("failing", "fail"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "ski"),
            ("key", "key"),
            ("relational", "relat"),
            ("vietnamization", "vietnam"),
            ("triplicate", "triplic"),
            ("hopefulness", "hope"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("controll", "control"),
        ];
        for (word, expected) in pairs {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn words_that_are_not_english_are_unchanged() {
        for word in ["", "is", "s3", "größen", "данные", "データ", "2025"] {
            assert_eq!(stem(word), word);
        }
    }
}
