//! The terms of a text: its words in lower case, as stems.

use super::stem::stem;

/// Maximum length of a term, in bytes. Longer ones are not words, and are cut.
const TERM_BYTES_MAX: usize = 64;

/// Maximum pieces of a name that is also one term as a whole. `DynamoDB` is, a sentence in capitals is not.
const JOINED_MAX: usize = 3;

/// Minimum letters next to a digit that are a separate term: `route` of `route53`, but not the `s` of `s3`.
const BESIDE_DIGIT_MIN: usize = 3;

/// Words that say nothing about a tool, such as words that ask for or point at something.
const PASSED: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like",
    "may", "me", "my", "need", "of", "on", "or", "our", "please", "should", "so", "some", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "us", "want", "was", "we", "were",
    "will", "with", "would", "you", "your",
];

/// Returns the runs of letters and digits in a text.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|run| !run.is_empty())
}

/// Returns the terms of one run.
pub(super) fn of_run(run: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let pieces = pieces(run);
    pieces.iter().for_each(|piece| put(piece, &mut terms));
    if (2..=JOINED_MAX).contains(&pieces.len()) {
        put(run, &mut terms);
    }
    terms
}

/// Adds one piece of a name.
fn put(piece: &str, terms: &mut Vec<String>) {
    let word = piece.to_lowercase();
    if PASSED.binary_search(&word.as_str()).is_ok() {
        return;
    }
    let word = &word[..word.floor_char_boundary(TERM_BYTES_MAX)];
    let letters = |part: &&str| part.len() >= BESIDE_DIGIT_MIN && part.len() < word.len();
    terms.extend(word.split(char::is_numeric).filter(letters).map(stem));
    terms.push(stem(word));
}

/// Splits a run of letters and digits at the borders in `camelCase` and `HTTPServer`.
fn pieces(run: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut characters = run.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins = character.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || (before.is_uppercase() && next_is_small));
        // A plural `s` after capitals, as in `IDs`, is not a border.
        let several = run[at..].chars().eq([character, 's']);
        if begins && !several {
            pieces.push(&run[start..at]);
            start = at;
        }
        before = Some(character);
    }
    pieces.push(&run[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        runs(text).flat_map(of_run).collect()
    }

    #[test]
    fn names_are_split_at_their_borders_and_kept_whole() {
        assert_eq!(terms("describe_key-pairs"), ["describ", "key", "pair"]);
        assert_eq!(terms("maxResults"), ["max", "result", "maxresult"]);
        assert_eq!(terms("HTTPServer"), ["http", "server", "httpserver"]);
        assert_eq!(terms("listACLs"), ["list", "acl", "listacl"]);
        assert_eq!(terms("S3 route53 EC2"), ["s3", "rout", "route53", "ec2"]);
        assert_eq!(terms("aVeryLongNameOfManyWords"), ["veri", "long", "name", "mani", "word"]);
    }

    #[test]
    fn every_alphabet_is_lowercased() {
        assert_eq!(terms("ΑΡΧΕΊΟ Größe ДАННЫЕ データ"), ["αρχείο", "größe", "данные", "データ"]);
    }

    #[test]
    fn words_without_meaning_are_ignored() {
        assert_eq!(terms("I would like you to do it for me, please!"), [""; 0]);
        assert!(PASSED.is_sorted());
    }

    #[test]
    fn long_terms_are_cut() {
        for term in terms(&format!("{} {}", "x".repeat(1000), "ß".repeat(1000))) {
            assert!(term.len() <= TERM_BYTES_MAX, "{term}");
        }
    }
}
