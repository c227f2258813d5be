//! Strings for a pattern, a format, or a length.

use super::instances::Choices;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// Number of strings per pattern.
const SAMPLES: usize = 8;

/// Strings without constraints: the empty one, and some that look like other types.
const PLAIN: [&str; 8] =
    ["a", "", "null", "7", "{\"a\":1}", "with spaces", "\u{e4}\u{6f22}\u{1f600}", "line\nfeed \"q\" \\"];

/// Returns a string of each format.
const FORMATS: [(&str, &str); 12] = [
    ("date-time", "2026-01-02T03:04:05Z"),
    ("date", "2026-01-02"),
    ("time", "03:04:05Z"),
    ("duration", "P1DT2H"),
    ("email", "a@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.com/a?b=c"),
    ("uri-reference", "/a?b=c"),
    ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
    ("regex", "^a+$"),
];

/// Generates a string that this part of a schema may allow.
pub(super) fn of(flat: &Map<String, Value>, choices: &mut Choices<'_>) -> String {
    if let Some(pattern) = flat.get("pattern").and_then(Value::as_str) {
        return matching(pattern, choices);
    }
    let format = flat.get("format").and_then(Value::as_str);
    let known = FORMATS.iter().find(|(name, _)| Some(*name) == format);
    let text = known.map_or_else(|| (*choices.of(&PLAIN)).to_owned(), |(_, text)| (*text).to_owned());
    let bound = |keyword: &str| flat.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    let least = bound("minLength").unwrap_or(0);
    let most = bound("maxLength").unwrap_or(usize::MAX);
    let length = text.chars().count().clamp(least, most.max(least));
    text.chars().chain(std::iter::repeat('x')).take(length).collect()
}

/// Generates a string that matches a regular expression, if possible.
pub(super) fn matching(pattern: &str, choices: &mut Choices<'_>) -> String {
    static MADE: LazyLock<Mutex<HashMap<String, Vec<String>>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap();
    let samples = made.entry(pattern.to_owned()).or_insert_with(|| samples(pattern));
    choices.of(samples).clone()
}

/// Removes anchors, which the generator does not support, and makes digits ASCII only.
fn samples(pattern: &str) -> Vec<String> {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    let inner =
        inner.replace("\\d", "[0-9]").replace("\\w", "[A-Za-z0-9_]").replace("[[0-9]", "[0-9").replace("\\b", "");
    let Ok(strategy) = proptest::string::string_regex(&inner) else { return vec![String::new()] };
    let mut runner = TestRunner::deterministic();
    (0..SAMPLES).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}
