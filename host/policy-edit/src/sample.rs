//! Arguments that a rule's patterns match, to ask both policies about the same call.
//!
//! This file must not know rules.

use portcullis_policy::{Glob, Policy};
use serde_json::{Map, Value as Json};
use toml_edit::{Item, TableLike, Value};

use crate::changes::ArgumentSample;
use crate::document::PolicyDocument;
use crate::edit::WhenValue;

/// Maximum arguments for which two policies are compared. Each is asked about every tool.
pub(crate) const SAMPLES_MAX: usize = 200;

/// Returns arguments that match the first value of each entry, or none if no such arguments are found.
pub(crate) fn arguments(when: &[(String, Vec<WhenValue>)]) -> Option<Map<String, Json>> {
    let mut arguments = Map::new();
    for (key, values) in when {
        let value = match values.first()? {
            WhenValue::Text(pattern) => Json::String(text(pattern)?),
            WhenValue::Integer(number) => Json::from(*number),
            WhenValue::Boolean(boolean) => Json::from(*boolean),
        };
        match key.strip_prefix('/') {
            None => drop(arguments.insert(key.clone(), value)),
            Some(pointer) => place(&mut arguments, pointer, value)?,
        }
    }
    Some(arguments)
}

/// Returns a sample for each `when` of a policy's text.
pub(crate) fn of_text(text: &str) -> Vec<ArgumentSample> {
    let (Some(document), Ok(policy)) = (PolicyDocument::parse(text), Policy::parse(text)) else { return Vec::new() };
    let mut samples = Vec::new();
    for (table, rule) in document.rules().iter().zip(policy.rules()) {
        let (Some(table), Some(when)) = (table.when(), &rule.when) else { continue };
        let entries: Option<Vec<_>> =
            table.iter().map(|(key, item)| Some((key.to_owned(), vec![value(item)?]))).collect();
        if let Some(arguments) = entries.and_then(|entries| arguments(&entries)) {
            samples.push(ArgumentSample { shown: Some(when.to_string()), arguments });
        }
    }
    samples
}

/// Returns the first value that an entry of a `when` accepts. None for a bound.
fn value(item: &Item) -> Option<WhenValue> {
    if let Some(array) = item.as_array() {
        return of_value(array.get(0)?);
    }
    match item.as_table_like() {
        Some(table) => of_test(table),
        None => of_value(item.as_value()?),
    }
}

fn of_value(value: &Value) -> Option<WhenValue> {
    match value {
        Value::String(text) => Some(WhenValue::Text(text.value().clone())),
        Value::Integer(number) => Some(WhenValue::Integer(*number.value())),
        Value::Boolean(boolean) => Some(WhenValue::Boolean(*boolean.value())),
        Value::InlineTable(table) => of_test(table),
        Value::Float(_) | Value::Datetime(_) | Value::Array(_) => None,
    }
}

fn of_test(table: &dyn TableLike) -> Option<WhenValue> {
    let text = table.get("equals").or_else(|| table.get("prefix"))?.as_str()?;
    // `text` reads every sample as a pattern, so a literal text becomes one.
    Some(WhenValue::Text(Glob::escape(text)))
}

/// Puts a value where a JSON Pointer leads.
fn place(arguments: &mut Map<String, Json>, pointer: &str, value: Json) -> Option<()> {
    // `~1` before `~0`, so that `~01` becomes `~1` and not a slash (RFC 6901, section 4).
    let mut names = pointer.split('/').map(|name| name.replace("~1", "/").replace("~0", "~"));
    let last = names.next_back()?;
    let mut table = arguments;
    for name in names {
        table = table.entry(name).or_insert_with(|| Json::Object(Map::new())).as_object_mut()?;
    }
    table.insert(last, value);
    Some(())
}

/// Returns a text that a pattern matches, or none if none is found. Each wildcard becomes a letter.
fn text(pattern: &str) -> Option<String> {
    let (mut text, mut characters) = (String::new(), pattern.chars().peekable());
    // The number of open braces whose first alternative was taken already.
    let mut alternatives = Vec::new();
    while let Some(character) = characters.next() {
        if alternatives.last() == Some(&true) && !matches!(character, '{' | '}') {
            continue;
        }
        match character {
            '*' => {
                // `**` also matches a single segment, so one letter stands for both.
                while characters.next_if_eq(&'*').is_some() {}
                text.push('x');
            }
            '?' => text.push('x'),
            '\\' => text.extend(characters.next()),
            '{' => alternatives.push(alternatives.last() == Some(&true)),
            '}' => drop(alternatives.pop()),
            ',' if !alternatives.is_empty() => {
                if let Some(taken) = alternatives.last_mut() {
                    *taken = true;
                }
            }
            '[' => text.push(of_class(&mut characters)?),
            character => text.push(character),
        }
    }
    // A policy that is asked about another text says nothing about the rule with this pattern.
    Glob::new(pattern).ok()?.matches(&text).then_some(text)
}

/// Returns a character that a class such as `[a-z]` or `[!a-z]` matches, or none if none is found. `rest` is the
/// pattern behind the `[`.
fn of_class(rest: &mut impl Iterator<Item = char>) -> Option<char> {
    let mut class = String::from("[");
    while let Some(character) = rest.next() {
        class.push(character);
        match character {
            '\\' => class.extend(rest.next()),
            ']' => break,
            _ordinary => {}
        }
    }
    let parsed = Glob::new(&class).ok()?;
    // Ordinary characters first. The class itself has those that a class of others matches.
    let ordinary = std::iter::once('x').chain('a'..='z').chain('0'..='9').chain('A'..='Z');
    ordinary.chain(class.chars()).find(|character| parsed.matches(character.encode_utf8(&mut [0; 4])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_match_their_patterns() {
        let patterns = [
            "src/**",
            "**",
            "*.rs",
            "a?c",
            "{a,b}/c",
            "{a,{b,c}}.{d,e}",
            "[a-z]x",
            "[!x]",
            "[!a-z]*",
            "[!a-zA-Z0-9]",
            "[é-ü]",
            r"[\]]",
            "**/.env*",
            r"a\*b",
        ];
        for pattern in patterns {
            let sample = text(pattern).unwrap_or_else(|| panic!("{pattern}"));
            assert!(Glob::new(pattern).unwrap().matches(&sample), "{pattern}: {sample}");
        }
    }

    /// The braces within the class are not read as a class, so what is found is no sample.
    #[test]
    fn a_text_that_its_pattern_does_not_match_is_no_sample() {
        for pattern in ["{a,[}]}b", "a["] {
            assert_eq!(text(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn a_pointer_leads_into_objects() {
        let when =
            [("/a/b~1c".to_owned(), vec![WhenValue::Integer(3)]), ("d".to_owned(), vec![WhenValue::Boolean(true)])];
        let expected = serde_json::json!({ "a": { "b/c": 3 }, "d": true });
        assert_eq!(Json::Object(arguments(&when).unwrap()), expected);
    }
}
