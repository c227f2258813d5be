//! Arguments that a rule's patterns match, to ask both policies about the same call.
//!
//! This file must not know rules.

use portcullis_policy::Policy;
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
            WhenValue::Text(pattern) => Json::String(text(pattern)),
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
    Some(WhenValue::Text(portcullis_policy::Glob::escape(text)))
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

/// Returns a text that a pattern probably matches: each wildcard becomes a letter. The caller checks it.
fn text(pattern: &str) -> String {
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
            '[' => text.push(of_class(&mut characters)),
            character => text.push(character),
        }
    }
    text
}

/// Returns a character of a class such as `[a-z]`. For a negated class it is a guess.
fn of_class(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> char {
    let mut class = Vec::new();
    for character in characters.by_ref() {
        if character == ']' && !class.is_empty() {
            break;
        }
        class.push(character);
    }
    match class.first() {
        Some('!' | '^') if class.contains(&'x') => 'q',
        Some('!' | '^') | None => 'x',
        Some(first) => *first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_match_their_patterns() {
        let patterns =
            ["src/**", "**", "*.rs", "a?c", "{a,b}/c", "{a,{b,c}}.{d,e}", "[a-z]x", "[!x]", "**/.env*", r"a\*b"];
        for pattern in patterns {
            let sample = text(pattern);
            assert!(portcullis_policy::Glob::new(pattern).unwrap().matches(&sample), "{pattern}: {sample}");
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
