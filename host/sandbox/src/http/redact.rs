//! Finds and removes secrets in responses and in a plugin's output, in the spellings that servers echo.
//!
//! It finds the value itself, reversed, in base64 (both alphabets, at each of the three offsets, padded or not), in
//! hexadecimal, percent-encoded (only where needed or throughout, and as forms do), and escaped as in JSON or HTML. It
//! does not find a value in pieces, encoded twice or encrypted. A server that wants to leak the secret already has it.
//! This is for servers that echo.

use super::spellings::spellings;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use std::collections::BTreeSet;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The text that replaces a secret.
pub(super) const REPLACEMENT: &str = "[redacted by Portcullis]";

/// Minimum hold-back of a stream, in bytes. With rounding up to a power of two, it hides the length of an ordinary
/// secret: a guest cannot derive it from the number of bytes that it waits for.
const HOLD_BACK_BYTES_MIN: usize = 256;

/// A search for one or more secrets in all their spellings.
pub(super) struct Redactor {
    automaton: AhoCorasick,
    /// For names of headers and hosts, which arrive in lower case. `None` if no spelling can be in a name.
    names: Option<AhoCorasick>,
    /// Sorted, without duplicates.
    spellings: Vec<Zeroizing<Vec<u8>>>,
    /// Which bytes a spelling can begin with.
    begins: [bool; 256],
    longest_bytes: usize,
}

impl Redactor {
    /// Returns a redactor for each of `values`: the secret, and the text that contains it. `None` if there is too much
    /// to search for.
    pub(super) fn new(values: &[&str]) -> Option<Self> {
        Self::of(values.iter().flat_map(|value| spellings(value)).collect())
    }

    /// Returns a redactor for the secrets of all `parts`. `None` if they are too many.
    pub(super) fn union(parts: &[Arc<Self>]) -> Option<Self> {
        Self::of(parts.iter().flat_map(|part| part.spellings.iter().map(|spelling| spelling.to_vec())).collect())
    }

    fn of(spellings: BTreeSet<Vec<u8>>) -> Option<Self> {
        let automaton = builder().build(&spellings).ok()?;
        let in_names: Vec<&Vec<u8>> = spellings.iter().filter(|spelling| spelling.iter().all(is_name_byte)).collect();
        let names = match in_names.as_slice() {
            [] => None,
            spellings => Some(builder().ascii_case_insensitive(true).build(spellings).ok()?),
        };
        let mut begins = [false; 256];
        for first in spellings.iter().filter_map(|spelling| spelling.first()) {
            begins[usize::from(*first)] = true;
        }
        let longest_bytes = spellings.iter().map(Vec::len).max().unwrap_or(0);
        let spellings = spellings.into_iter().map(Zeroizing::new).collect();
        Some(Self { automaton, names, spellings, begins, longest_bytes })
    }

    /// Returns whether both redactors search for the same spellings.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.spellings == other.spellings
    }

    /// Returns the length of all spellings together, in bytes.
    pub(super) fn spelled_bytes(&self) -> usize {
        self.spellings.iter().map(|spelling| spelling.len()).sum()
    }

    /// Returns how many bytes at the end of a stream are held back until more arrive. The number does not depend on the
    /// bytes, so it reveals nothing about a secret. It is large enough for every spelling that begins before the
    /// held-back bytes to be complete.
    pub(super) fn hold_back_bytes(&self) -> usize {
        self.longest_bytes.max(HOLD_BACK_BYTES_MIN).next_power_of_two()
    }

    /// Returns `bytes` without the secrets and the number of matches, or `None` if there is no match.
    pub(super) fn bytes(&self, bytes: &[u8]) -> Option<(Vec<u8>, u64)> {
        replace_all(&self.automaton, bytes)
    }

    /// Like `bytes`, for text.
    pub(super) fn text(&self, text: &str) -> Option<(String, u64)> {
        self.bytes(text.as_bytes()).map(as_text)
    }

    /// Like `text`, for a case-insensitive text.
    pub(super) fn name(&self, name: &str) -> Option<(String, u64)> {
        replace_all(self.names.as_ref()?, name.as_bytes()).map(as_text)
    }

    /// Replaces each spelling that begins before `end`. Returns the text up to `end`, or up to the end of the last
    /// spelling if that is later, and how many of `bytes` that covers.
    pub(super) fn replace_until(&self, bytes: &[u8], end: usize, found: &mut u64) -> (Vec<u8>, usize) {
        replace(&self.automaton, bytes, end, found)
    }

    /// Returns the first position in `bytes` where a spelling may begin that is cut off. A guest must not see the
    /// result, because it reveals whether the bytes are the beginning of a secret.
    pub(super) fn cut_off(&self, bytes: &[u8]) -> usize {
        let first = bytes.len().saturating_sub(self.longest_bytes.saturating_sub(1));
        let begun = |rest: &[u8]| {
            self.spellings.iter().any(|spelling| spelling.len() > rest.len() && spelling.starts_with(rest))
        };
        (first..bytes.len())
            .find(|place| self.begins[usize::from(bytes[*place])] && begun(&bytes[*place..]))
            .unwrap_or(bytes.len())
    }
}

fn builder() -> AhoCorasickBuilder {
    let mut builder = AhoCorasick::builder();
    // A full transition table would be large for a long secret.
    builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::ContiguousNFA));
    builder
}

/// Returns whether a byte can be in the name of a header: RFC 9110 section 5.6.2.
fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

fn replace_all(automaton: &AhoCorasick, bytes: &[u8]) -> Option<(Vec<u8>, u64)> {
    automaton.find(bytes)?;
    let mut found = 0;
    let (redacted, _) = replace(automaton, bytes, bytes.len(), &mut found);
    Some((redacted, found))
}

fn as_text((redacted, found): (Vec<u8>, u64)) -> (String, u64) {
    // Every spelling is valid UTF-8, so the text between two of them is valid too.
    (String::from_utf8(redacted).unwrap_or_else(|_| REPLACEMENT.to_owned()), found)
}

fn replace(automaton: &AhoCorasick, bytes: &[u8], end: usize, found: &mut u64) -> (Vec<u8>, usize) {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for spelling in automaton.find_iter(bytes).take_while(|spelling| spelling.start() < end) {
        replaced.extend_from_slice(&bytes[done..spelling.start()]);
        replaced.extend_from_slice(REPLACEMENT.as_bytes());
        done = spelling.end();
        *found += 1;
    }
    let end = end.max(done);
    replaced.extend_from_slice(&bytes[done..end]);
    (replaced, end)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::http::encoding::{HexCase, is_unreserved, percent};
    use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};

    pub(in crate::http) const SECRET: &str = "k3y/+ \"<&'\\=éx";

    fn redactor() -> Arc<Redactor> {
        Arc::new(Redactor::new(&[SECRET]).unwrap())
    }

    /// Returns the name and text of each spelling that servers echo.
    pub(in crate::http) fn echoes() -> Vec<(&'static str, String)> {
        let bytes = SECRET.as_bytes();
        let padded = |prefix: &str| BASE64.encode(&[prefix.as_bytes(), bytes, b" and more"].concat());
        let url = |prefix: &str| BASE64URL_NOPAD.encode(&[prefix.as_bytes(), bytes, b"."].concat());
        vec![
            ("raw", SECRET.to_owned()),
            ("reversed", SECRET.chars().rev().collect()),
            ("base64", BASE64.encode(bytes)),
            ("base64 without padding", BASE64_NOPAD.encode(bytes)),
            ("base64 for URLs", BASE64URL_NOPAD.encode(bytes)),
            ("base64 after one byte", padded("a")),
            ("base64 after two bytes", padded("ab")),
            ("base64 after three bytes", padded("abc")),
            ("base64 for URLs after one byte", url("a")),
            ("base64 for URLs after two bytes", url("ab")),
            ("hex", HEXLOWER.encode(bytes)),
            ("hex in upper case", HEXUPPER.encode(bytes)),
            ("percent", percent(bytes, HexCase::Upper, is_unreserved)),
            ("percent in lower case", percent(bytes, HexCase::Lower, is_unreserved)),
            ("percent throughout", percent(bytes, HexCase::Upper, |_| false)),
            ("form", "k3y%2F%2B+%22%3C%26%27%5C%3D%C3%A9x".to_owned()),
            ("JSON", r#"k3y/+ \"<&'\\=éx"#.to_owned()),
            ("JSON in ASCII and safe in HTML", r#"k3y/+ \"\u003c\u0026'\\=\u00e9x"#.to_owned()),
            ("HTML", "k3y/+ &quot;&lt;&amp;&#x27;\\=éx".to_owned()),
        ]
    }

    #[test]
    fn every_common_spelling_is_found_and_nothing_decodable_is_left() {
        let redactor = redactor();
        for (name, echo) in echoes() {
            let text = format!("before {echo} after");
            let (redacted, found) = redactor.text(&text).unwrap_or_else(|| panic!("{name} was not found"));
            assert_eq!(found, 1, "{name}");
            // At most the digits that base64 shares with the neighbours, and the neighbours, are left.
            let left = redacted.replace(REPLACEMENT, "").len();
            assert!(left <= "before  after".len() + 20, "{name}: {redacted}");
            assert!(redacted.contains(REPLACEMENT), "{name}: {redacted}");
        }
        assert!(redactor.text("k3y, but not the whole of it").is_none());
    }

    #[test]
    fn a_redacted_json_document_still_parses() {
        let text = r#"{"token": "k3y/+ \"<&'\\=éx"}"#;
        let (redacted, _) = redactor().text(text).unwrap();
        assert_eq!(redacted, format!("{{\"token\": \"{REPLACEMENT}\"}}"));
    }

    #[test]
    fn a_name_is_searched_in_any_case() {
        let redactor = Redactor::new(&["Tok-8C1F0a5e9d7b"]).unwrap();
        for name in ["tok-8c1f0a5e9d7b", "x-TOK-8C1F0A5E9D7B-y"] {
            assert_eq!(redactor.name(name).unwrap().1, 1, "{name}");
        }
        assert!(redactor.text("tok-8c1f0a5e9d7b").is_none() && redactor.name("tok-8c1f0a5e").is_none());
    }

    #[test]
    fn a_union_finds_what_each_part_finds() {
        let parts = [Arc::new(Redactor::new(&["first-secret"]).unwrap()), redactor()];
        let union = Redactor::union(&parts).unwrap();
        let (redacted, found) = union.text(&format!("first-secret {SECRET} third-secret")).unwrap();
        assert_eq!((redacted, found), (format!("{REPLACEMENT} {REPLACEMENT} third-secret"), 2));
        assert!(union.is_same(&Redactor::union(&[redactor(), Arc::clone(&parts[0])]).unwrap()));
        assert!(!union.is_same(&parts[0]));
    }
}
