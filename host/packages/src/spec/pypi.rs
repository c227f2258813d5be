//! The names and versions of PyPI: PEP 503, PEP 508 and PEP 440.

use super::problem::SpecProblem;

/// Maximum bytes of a name. The longest names in use have fewer than 100.
const NAME_BYTES_MAX: usize = 128;

/// Maximum numbers in a release. Calendar versions have up to five.
const RELEASE_NUMBERS_MAX: usize = 16;

/// Splits `NAME==VERSION`, and checks both. The returned name is normalized.
pub(super) fn split(text: &str) -> Result<(String, &str), SpecProblem> {
    let end = text.find(|character: char| "=<>!~ @;,[".contains(character)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if !is_name(name) {
        return Err(SpecProblem::Name);
    }
    if rest.starts_with('[') {
        return Err(SpecProblem::Extras);
    }
    match rest.strip_prefix("==") {
        None if rest.is_empty() => Err(SpecProblem::NoVersion),
        Some("") => Err(SpecProblem::NoVersion),
        Some(version) if PypiVersion::parse(version).is_some() => Ok((normalized_name(name), version)),
        None | Some(_) => Err(SpecProblem::NotExact),
    }
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    ends.iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric))
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(byte))
        && bytes.len() <= NAME_BYTES_MAX
}

/// Returns the one form of all spellings of a name: lower case, and one hyphen for each run of `-`, `_` and `.`.
pub(crate) fn normalized_name(name: &str) -> String {
    let words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// A version by PEP 440. Two spellings of one version are equal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PypiVersion {
    epoch: u64,
    /// Without zeros at the end.
    release: Vec<u64>,
    pre: Option<(char, u64)>,
    post: Option<u64>,
    dev: Option<u64>,
    local: Option<String>,
}

/// The spellings of the labels of a pre-release, each with the letter of its normal form. A label that begins with
/// another one stands before it.
const PRE_LABELS: [(&str, char); 8] =
    [("alpha", 'a'), ("beta", 'b'), ("preview", 'r'), ("pre", 'r'), ("rc", 'r'), ("a", 'a'), ("b", 'b'), ("c", 'r')];

impl PypiVersion {
    /// Parses a version. Returns `None` for anything else, such as a range or a wildcard.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let text = text.strip_prefix('v').unwrap_or(&text);
        let (public, local) = match text.split_once('+') {
            Some((public, local)) => (public, Some(normalized_local(local)?)),
            None => (text, None),
        };
        let (epoch, rest) = match public.split_once('!') {
            Some((epoch, rest)) => (epoch.parse().ok().filter(|_| all_digits(epoch))?, rest),
            None => (0, public),
        };
        let (release, rest) = split_release(rest)?;
        let (pre, rest) = split_pre(rest)?;
        let (post, rest) = split_post(rest)?;
        let (dev, rest) = split_labelled(rest, &["dev"])?;
        rest.is_empty().then_some(Self { epoch, release, pre, post, dev, local })
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn normalized_local(local: &str) -> Option<String> {
    let parts: Vec<&str> = local.split(['-', '_', '.']).collect();
    let plain = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    parts.iter().all(plain).then(|| parts.join("."))
}

/// Splits the digits off the beginning of a text. Without digits, the number is `None`.
fn split_number(text: &str) -> Option<(Option<u64>, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    match digits {
        "" => Some((None, rest)),
        digits => Some((Some(digits.parse().ok()?), rest)),
    }
}

fn split_release(text: &str) -> Option<(Vec<u64>, &str)> {
    let (first, mut rest) = split_number(text)?;
    let mut release = vec![first?];
    while let Some(after) = rest.strip_prefix('.') {
        let (Some(number), after) = split_number(after)? else { break };
        release.push(number);
        rest = after;
    }
    while release.len() > 1 && release.last() == Some(&0) {
        release.pop();
    }
    (release.len() <= RELEASE_NUMBERS_MAX).then_some((release, rest))
}

/// The rest of a text after a part that may be absent. The outer `None` is a number that is too large.
type Split<'a, T> = Option<(Option<T>, &'a str)>;

fn split_pre(text: &str) -> Split<'_, (char, u64)> {
    for (label, letter) in PRE_LABELS {
        if let (Some(number), rest) = split_labelled(text, &[label])? {
            return Some((Some((letter, number)), rest));
        }
    }
    Some((None, text))
}

fn split_post(text: &str) -> Split<'_, u64> {
    // `1.0-1` is a spelling of `1.0.post1`.
    if let Some(after) = text.strip_prefix('-')
        && let (Some(number), rest) = split_number(after)?
    {
        return Some((Some(number), rest));
    }
    split_labelled(text, &["post", "rev", "r"])
}

/// Splits `.labelN` off, where the separators and the number may be absent.
fn split_labelled<'a>(text: &'a str, labels: &[&str]) -> Split<'a, u64> {
    let bare = text.strip_prefix(['-', '_', '.']).unwrap_or(text);
    let Some(rest) = labels.iter().find_map(|label| bare.strip_prefix(label)) else { return Some((None, text)) };
    match split_number(rest.strip_prefix(['-', '_', '.']).unwrap_or(rest))? {
        (Some(number), rest) => Some((Some(number), rest)),
        (None, _) => Some((Some(0), rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_version_are_equal() {
        for (one, other) in [
            ("1.0", "1.0.0"),
            ("2025.01.14", "2025.1.14"),
            ("1.0-alpha.1", "1.0a1"),
            ("1.0.c2", "1.0rc2"),
            ("1.0preview", "1.0rc0"),
            ("1.0-1", "1.0.post1"),
            ("v1.0", "1"),
            ("1.0+Ubuntu-1", "1.0+ubuntu.1"),
            ("0!1.0.dev", "1.0dev0"),
        ] {
            assert_eq!(PypiVersion::parse(one), PypiVersion::parse(other), "{one} {other}");
            assert!(PypiVersion::parse(one).is_some(), "{one}");
        }
        for (one, other) in [("1.0", "1.0.1"), ("1.0", "1.0.dev1"), ("1.0", "1.0+a"), ("1.0a1", "1.0b1"), ("1!1", "1")]
        {
            assert_ne!(PypiVersion::parse(one), PypiVersion::parse(other), "{one} {other}");
        }
    }

    #[test]
    fn other_texts_are_no_versions() {
        for text in [
            "",
            "1.*",
            "*",
            "latest",
            "1.0,<2",
            ">=1",
            "1..0",
            "1.",
            "+a",
            "1.0+",
            "1.0 ",
            "-1",
            "99999999999999999999",
        ] {
            assert_eq!(PypiVersion::parse(text), None, "{text}");
        }
    }
}
