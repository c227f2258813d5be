//! Finds the secrets of a call in what comes back or goes out, in the spellings that servers echo them in, and takes
//! them out.
//!
//! Found: the value itself, reversed, in base64 (both alphabets, at each of the three offsets, padded or not), in
//! hexadecimal, percent-encoded (only where needed or throughout, and as forms do), and escaped as in JSON or HTML.
//! Not found: anything that a server which means to leak can think of, such as a value in pieces, encoded twice or
//! encrypted. A server that means to leak already has the secret; this is for those that echo.

use super::encoding::{Case, is_unreserved, percent};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER, HEXUPPER};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use zeroize::Zeroizing;

/// What stands where a secret stood.
pub(super) const REPLACEMENT: &str = "[redacted by Portcullis]";

/// Looks for one secret in all its spellings.
pub(super) struct Redactor {
    automaton: AhoCorasick,
    spellings: Vec<Zeroizing<Vec<u8>>>,
    /// Which bytes a spelling can begin with.
    begins: [bool; 256],
    longest_bytes: usize,
}

impl Redactor {
    /// Looks for each of `values`: the secret, and what it is filled into. `None` where there is too much to look for.
    pub(super) fn new(values: &[&str]) -> Option<Self> {
        let spellings: BTreeSet<Vec<u8>> = values.iter().flat_map(|value| spellings(value)).collect();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // A table of all transitions would be large for a long secret.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&spellings)
            .ok()?;
        let mut begins = [false; 256];
        for first in spellings.iter().filter_map(|spelling| spelling.first()) {
            begins[usize::from(*first)] = true;
        }
        let longest_bytes = spellings.iter().map(Vec::len).max().unwrap_or(0);
        Some(Self { automaton, spellings: spellings.into_iter().map(Zeroizing::new).collect(), begins, longest_bytes })
    }

    /// `bytes` without the secret, and how often it was there; `None` where it was not.
    pub(super) fn bytes(&self, bytes: &[u8]) -> Option<(Vec<u8>, u64)> {
        self.automaton.find(bytes)?;
        let mut found = 0;
        let (redacted, _) = self.replace(bytes, bytes.len(), &mut found);
        Some((redacted, found))
    }

    /// As `bytes`, for text.
    pub(super) fn text(&self, text: &str) -> Option<(String, u64)> {
        let (redacted, found) = self.bytes(text.as_bytes())?;
        // Every spelling is text, so what is left between two of them is too.
        let redacted = String::from_utf8(redacted).unwrap_or_else(|_| REPLACEMENT.to_owned());
        Some((redacted, found))
    }

    /// Replaces each spelling that begins before `end`. Returns the text up to `end`, or up to the end of the last
    /// spelling where that is later, and how much of `bytes` that was.
    fn replace(&self, bytes: &[u8], end: usize, found: &mut u64) -> (Vec<u8>, usize) {
        let mut replaced = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for spelling in self.automaton.find_iter(bytes).take_while(|spelling| spelling.start() < end) {
            replaced.extend_from_slice(&bytes[done..spelling.start()]);
            replaced.extend_from_slice(REPLACEMENT.as_bytes());
            done = spelling.end();
            *found += 1;
        }
        let end = end.max(done);
        replaced.extend_from_slice(&bytes[done..end]);
        (replaced, end)
    }

    /// The first place in `bytes` where a spelling may begin whose rest is still to come.
    pub(super) fn undecided(&self, bytes: &[u8]) -> usize {
        let first = bytes.len().saturating_sub(self.longest_bytes.saturating_sub(1));
        let begun = |rest: &[u8]| {
            self.spellings.iter().any(|spelling| spelling.len() > rest.len() && spelling.starts_with(rest))
        };
        (first..bytes.len())
            .find(|place| self.begins[usize::from(bytes[*place])] && begun(&bytes[*place..]))
            .unwrap_or(bytes.len())
    }
}

/// A redactor for a stream: holds back what may be the beginning of a secret, and nothing else.
pub(super) struct StreamRedactor {
    redactor: Arc<Redactor>,
    held: Zeroizing<Vec<u8>>,
}

impl StreamRedactor {
    pub(super) fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Zeroizing::default() }
    }

    /// What of the stream is certain after `bytes`. Counts into `found`.
    pub(super) fn push(&mut self, bytes: &[u8], found: &mut u64) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let (redacted, done) = self.redactor.replace(&self.held, self.redactor.undecided(&self.held), found);
        self.held.drain(..done);
        redacted
    }

    /// The rest, once nothing more comes.
    pub(super) fn finish(&mut self, found: &mut u64) -> Vec<u8> {
        let (redacted, _) = self.redactor.replace(&self.held, self.held.len(), found);
        self.held.clear();
        redacted
    }
}

/// Every spelling of a value that is looked for.
fn spellings(value: &str) -> BTreeSet<Vec<u8>> {
    let bytes = value.as_bytes();
    let mut texts = vec![
        value.to_owned(),
        value.chars().rev().collect(),
        html(value, "&#39;", "&#34;"),
        html(value, "&#x27;", "&quot;"),
        html(value, "&apos;", "&quot;"),
        html(value, "'", "&quot;"),
    ];
    texts.extend([BASE64.encode(bytes), BASE64URL.encode(bytes)]);
    for bare in [BASE64_NOPAD, BASE64URL_NOPAD] {
        texts.push(bare.encode(bytes));
        texts.extend((0..3).map(|offset| base64_core(bytes, offset, &bare)));
    }
    texts.extend([HEXLOWER.encode(bytes), HEXUPPER.encode(bytes)]);
    for case in [Case::Lower, Case::Upper] {
        texts.push(percent(bytes, case, is_unreserved));
        texts.push(percent(bytes, case, |_| false));
        // What JavaScript keeps in a component of a URL, and what a form is sent as.
        texts.push(percent(bytes, case, |byte| is_unreserved(byte) || b"!*'()".contains(&byte)));
        texts.push(percent(bytes, case, |byte| is_unreserved(byte) || byte == b' ').replace(' ', "+"));
        let form = |byte: u8| byte.is_ascii_alphanumeric() || b"*-._ ".contains(&byte);
        texts.push(percent(bytes, case, form).replace(' ', "+"));
        // What some keep as parts of a path, and what JavaScript keeps in a whole URL.
        texts.push(percent(bytes, case, |byte| is_unreserved(byte) || byte == b'/'));
        texts.push(percent(bytes, case, |byte| is_unreserved(byte) || b";/?:@&=+$,#!*'()".contains(&byte)));
        for slash in ["/", "\\/"] {
            texts.extend([json(value, slash, "", case), json(value, slash, "<>&", case)]);
            texts.push(json(value, slash, "<>&'+", case));
        }
    }
    texts.into_iter().map(String::into_bytes).collect()
}

/// The part of base64 that a value alone decides when it begins `offset` bytes into a group of three.
fn base64_core(bytes: &[u8], offset: usize, bare: &Encoding) -> String {
    let shifted = Zeroizing::new([&[0; 2][..offset], bytes].concat());
    let encoded = bare.encode(&shifted);
    // The digits of the bytes before, and the one that is shared with them.
    let begin = [0, 2, 3][offset];
    let end = shifted.len() * 8 / 6;
    encoded[begin..end].to_owned()
}

fn html(value: &str, apostrophe: &str, quote: &str) -> String {
    let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('\'', apostrophe).replace('"', quote)
}

/// As within a JSON string; `unicode` are characters that are written as `\u00..`, beside those outside ASCII in
/// upper-case spelling, which is a common setting.
fn json(value: &str, slash: &str, unicode: &str, case: Case) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '/' => text.push_str(slash),
            _ if unicode.contains(character) || (!unicode.is_empty() && !character.is_ascii()) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let written = match case {
                        Case::Lower => write!(text, "\\u{unit:04x}"),
                        Case::Upper => write!(text, "\\u{unit:04X}"),
                    };
                    debug_assert!(written.is_ok(), "writing to a string does not fail");
                }
            }
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "k3y/+ \"<&'\\=éx";

    fn redactor() -> Arc<Redactor> {
        Arc::new(Redactor::new(&[SECRET]).unwrap())
    }

    fn echoes() -> Vec<(&'static str, String)> {
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
            ("percent", percent(bytes, Case::Upper, is_unreserved)),
            ("percent in lower case", percent(bytes, Case::Lower, is_unreserved)),
            ("percent throughout", percent(bytes, Case::Upper, |_| false)),
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
    fn a_secret_that_is_split_anywhere_is_found() {
        let redactor = redactor();
        for (name, echo) in echoes() {
            let text = format!("{{\"a\": \"k3y{echo}k3\", \"b\": \"{echo}\"}}");
            let (whole, expected) = redactor.bytes(text.as_bytes()).unwrap();
            for split in 0..=text.len() {
                let mut stream = StreamRedactor::new(Arc::clone(&redactor));
                let mut found = 0;
                let mut parts = stream.push(&text.as_bytes()[..split], &mut found);
                parts.extend(stream.push(&text.as_bytes()[split..], &mut found));
                parts.extend(stream.finish(&mut found));
                assert_eq!((&parts, found), (&whole, expected), "{name}, split at {split}");
            }
            let mut stream = StreamRedactor::new(Arc::clone(&redactor));
            let mut found = 0;
            let mut drip: Vec<u8> = text.bytes().flat_map(|byte| stream.push(&[byte], &mut found)).collect();
            drip.extend(stream.finish(&mut found));
            assert_eq!((drip, found), (whole, expected), "{name}, byte by byte");
        }
    }

    #[test]
    fn only_the_possible_beginning_of_a_secret_is_held_back() {
        let mut stream = StreamRedactor::new(redactor());
        let mut found = 0;
        assert_eq!(stream.push(b"data: nothing\n\n", &mut found), b"data: nothing\n\n");
        assert_eq!(stream.push(b"data: k3y/", &mut found), b"data: ");
        assert_eq!(stream.push(b"n", &mut found), b"k3y/n");
        assert_eq!(found, 0);
    }

    #[test]
    fn a_redacted_json_document_still_parses() {
        let text = r#"{"token": "k3y/+ \"<&'\\=éx"}"#;
        let (redacted, _) = redactor().text(text).unwrap();
        assert_eq!(redacted, format!("{{\"token\": \"{REPLACEMENT}\"}}"));
    }
}
