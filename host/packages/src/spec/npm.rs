//! The names and versions of npm.

use super::problem::SpecProblem;

/// Maximum bytes of a name, as npm has it.
const NAME_BYTES_MAX: usize = 214;

/// Splits `NAME@VERSION`, and checks both.
pub(super) fn split(text: &str) -> Result<(String, &str), SpecProblem> {
    // The first `@` of a scoped name is part of the name.
    let separator = text.char_indices().skip(1).find(|(_, character)| *character == '@');
    let (name, version) = match separator {
        Some((at, _)) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    if !is_name(name) {
        return Err(SpecProblem::Name);
    }
    match version {
        None | Some("") => Err(SpecProblem::NoVersion),
        Some(version) if is_exact_version(version) => Ok((name.to_owned(), version)),
        Some(_) => Err(SpecProblem::NotExact),
    }
}

/// Returns whether the text is a name that npm accepts for new packages.
fn is_name(name: &str) -> bool {
    let parts = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').map(|(scope, name)| vec![scope, name]),
        None => Some(vec![name]),
    };
    name.len() <= NAME_BYTES_MAX && parts.is_some_and(|parts| parts.into_iter().all(is_name_part))
}

/// Returns whether the text is a scope or a name within it: no path, no option, no reserved folder.
fn is_name_part(part: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._~".contains(&byte);
    part.bytes().next().is_some_and(|first| first.is_ascii_lowercase() || first.is_ascii_digit())
        && part.bytes().all(plain)
        && part != "node_modules"
}

/// Returns whether the text is a version of Semantic Versioning 2.0.0. npm ignores build metadata, so it is refused.
fn is_exact_version(version: &str) -> bool {
    let (release, label) = match version.split_once('-') {
        Some((release, label)) => (release, Some(label)),
        None => (version, None),
    };
    let numbers: Vec<&str> = release.split('.').collect();
    numbers.len() == 3 && numbers.into_iter().all(is_number) && label.is_none_or(|label| label.split('.').all(is_label))
}

fn is_number(text: &str) -> bool {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits && (text == "0" || !text.starts_with('0'))
}

fn is_label(text: &str) -> bool {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    plain && (is_number(text) || text.bytes().any(|byte| !byte.is_ascii_digit()))
}
